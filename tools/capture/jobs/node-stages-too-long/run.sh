# place=/home/batch/seg limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in 0 1 2 3; do (
t=2; [ $r = 3 ] && t=45
echo "$(date '+%F %T') gpu-node-0$((r+1)): staging env.sqfs to /local"; sleep $t; echo "$(date '+%F %T') gpu-node-0$((r+1)): staged, $t s"
RANK=$r LOCAL_RANK=$r on gpu-node-0$((r+1)) python -u seg_main.py; rc=$?; echo "$(date '+%F %T') gpu-node-0$((r+1)): task $r left with $rc") > logs/task.$r.out 2>&1 & done; wait
