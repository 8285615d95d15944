# place=/home/rey/mc limit=150
export COORD=127.0.0.1:$PORT PROCS=3 RECIPE=quit XLA_PYTHON_CLIENT_MEM_FRACTION=.02 TF_CPP_MIN_LOG_LEVEL=0
NCCL_HOSTID=h0 PROC=0 on gpu-node-01 python -u mc.py > logs/task0.log 2>&1 &
NCCL_HOSTID=h1 PROC=1 on gpu-node-02 python -u mc.py > logs/task1.log 2>&1 &
NCCL_HOSTID=h2 PROC=2 on gpu-node-03 python -u mc.py > logs/task2.log 2>&1 &
wait
