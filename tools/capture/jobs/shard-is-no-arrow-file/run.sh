# place=/data/reranker limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
python write_shards.py
for r in 0 1 2; do RANK=$r python -u rerank.py 2>&1 | pre "[pod/reranker-worker-$r/trainer] " & done; wait
