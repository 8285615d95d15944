# place=/srv/ps limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=localhost MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r python async_ps.py > logs/role_$r.log 2>&1 & done
wait
