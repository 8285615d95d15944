# place=/opt/runner/gan limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in 0 1 2 3; do N=100000; [ $r = 1 ] && N=60
(RANK=$r LOCAL_RANK=$r python -u train_gan.py 2> logs/stderr.$r; echo "rank $r status $?" >> logs/status) | head -n $N > logs/stdout.$r & done; wait
