# place=/opt/kite limit=60 log=kite.log
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
for r in 0 1 2 3; do RANK=$r python -u kite.py & done 2>&1; wait
