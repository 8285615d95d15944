# place=/srv/index limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r python build_knn.py --dim 768 > logs/knn_rank$r.log 2>&1 & done
wait
