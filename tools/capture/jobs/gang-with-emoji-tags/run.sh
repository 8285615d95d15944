# place=/srv/mica limit=60 log=mica.log
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
for r in 0 1 2 3; do RANK=$r python -u mica.py & done 2>&1; wait
