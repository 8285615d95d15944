# place=/opt/acer limit=60 log=acer.log
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=5 OMP_NUM_THREADS=1
for r in 0 1 2 3 4; do RANK=$r python -u acer.py 2>&1 | pre "<slot:$r> " & done; wait
