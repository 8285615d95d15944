# place=/opt/serve/tp limit=75 log=serve.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1 2 3; do
  [ $r = 3 ] && export PLAN_VERSION=1
  RANK=$r LOCAL_RANK=$r python -u serve.py 2>&1 | stamp "tp-$r" &
done; wait
