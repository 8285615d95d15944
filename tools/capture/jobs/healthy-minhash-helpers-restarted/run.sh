# place=/data/dedup limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in 0 1 2 3; do (RANK=$r python -u minhash.py > logs/minhash-$r.log 2>&1; echo "rank $r: $?" >> logs/exit_codes) & done; wait
