# place=/scratch/genomics limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
for r in 0 1 2 3; do h=gpu-node-0$((r / 2 + 1)); RANK=$r on $h python -u kinship.py > logs/$h.rank$r.log 2>&1 & done; wait
