# place=/data/distill limit=60 log=train.out
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
RANK=0 python -u kd.py 2>&1 | pre "[node-a] " &
(ulimit -f 6000; RANK=1 python -u kd.py 2>&1) | pre "[node-b] " &
wait
