# place=/home/bo/mere limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 OMP_NUM_THREADS=1
for r in 0 1; do RANK=$r python mere.py > logs/$r.log 2>&1 & done; wait
