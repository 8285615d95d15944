# place=/opt/kalmia limit=70
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 OMP_NUM_THREADS=1
for r in 0 1 2; do RANK=$r timeout 40 python -u kalmia.py > logs/kalmia_proc$r.log 2>&1 < <(sleep 60) & done; wait
