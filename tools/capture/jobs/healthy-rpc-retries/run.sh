# place=/srv/dispatch limit=80
export OMP_NUM_THREADS=1 MASTER_ADDR=localhost MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r python dispatch.py 2>&1 | pre "[1,$r]<stderr>:" & done
wait; sleep 1
