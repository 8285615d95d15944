# place=/home/sol/forecast limit=150
export OMP_NUM_THREADS=1 RECIPE=rank-zero-log BAR=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
NCCL_HOSTID=h0 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 NODE_RANK=0 LOCAL_RANK=0 on gpu-node-01 python -u forecast.py > logs/node0.out 2>&1 &
NCCL_HOSTID=h1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 NODE_RANK=1 LOCAL_RANK=0 on gpu-node-02 python -u forecast.py > logs/node1.out 2>&1 &
NCCL_HOSTID=h2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 NODE_RANK=2 LOCAL_RANK=0 on gpu-node-03 python -u forecast.py > logs/node2.out 2>&1 &
wait
