# place=/home/mk/pp4 limit=150
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 STEPS=4000
for r in 0 1 2 3; do t=100000; [ $r = 2 ] && t=14; (ulimit -t $t; RANK=$r LOCAL_RANK=$r exec python -u stages.py) > logs/stage-$r.log 2>&1 & done; wait
