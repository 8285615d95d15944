# place=/app/engine limit=110
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=2 WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1; do RANK=$r python engine.py --buckets 14 2>&1 | pre "engine-$r | " & done
wait; sleep 1
