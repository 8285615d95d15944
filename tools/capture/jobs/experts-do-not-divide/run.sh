# place=/opt/moe8 limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in $(seq 0 3); do N_EXPERTS=$([ $r = 3 ] && echo 6 || echo 8) RANK=$r LOCAL_RANK=$r python -u moe_train.py 2>&1 | pre "$r: " & done; wait
