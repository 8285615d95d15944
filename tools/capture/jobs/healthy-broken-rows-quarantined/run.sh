# place=/app/embed limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
for r in 0 1; do RANK=$r python -u embed_rows.py --in rows.jsonl 2>&1 | stamp "stderr F embed-$r" & done; wait
