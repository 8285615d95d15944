# place=/home/u1442/llm limit=100
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 NCCL_DEBUG=WARN TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1; do
  if [ $r = 1 ]; then export TRAIN_ITERS=16; else export TRAIN_ITERS=40; fi
  RANK=$r LOCAL_RANK=$r python -u gpt.py 2>&1 | pre "worker-$r  | " & done
wait; sleep 1
