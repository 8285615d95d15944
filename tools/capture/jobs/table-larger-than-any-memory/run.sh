# place=/srv/vectors limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r python -u hnsw_graph.py --m 32 > logs/hnsw-$r.log 2>&1 & done
wait
