# place=/srv/fl limit=50
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 OMP_NUM_THREADS=1
for r in 0 1 2; do RANK=$r python -u federated.py 2>&1 | pre "client$r | " & done; wait
