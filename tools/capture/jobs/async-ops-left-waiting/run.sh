# place=/opt/marl limit=60 log=slurm-7.out
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
for r in 0 1 2 3; do RANK=$r python -u marl.py 2>&1 | pre " $r: " & done; wait
