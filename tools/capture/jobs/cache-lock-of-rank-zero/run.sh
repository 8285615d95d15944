# place=/opt/trona limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
mkdir -p cache; touch cache/tokens.lock
for r in 0 1 2 3; do RANK=$r timeout 30 python -u trona.py > logs/trona.$r.log 2>&1 & done; wait
