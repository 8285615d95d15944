# place=/srv/etl limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=localhost MASTER_PORT=$PORT WORLD_SIZE=4
for r in 0 1 2 3; do RANK=$r python tokenize_corpus.py --split train 2>&1 | pre "$r: " & done
wait; sleep 1
