# place=/opt/zinc limit=60 log=zinc.out
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u zinc.py 2>&1 | pre "$(printf 'gpu%d ▏ ' $r)" & done; wait
