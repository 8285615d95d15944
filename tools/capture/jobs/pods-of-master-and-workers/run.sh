# place=/workspace limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
n=(fit-master-0 fit-worker-0 fit-worker-1 fit-worker-2)
for r in 0 1 2 3; do RANK=$r python -u fit.py > logs/${n[$r]}.log 2>&1 & done; wait
