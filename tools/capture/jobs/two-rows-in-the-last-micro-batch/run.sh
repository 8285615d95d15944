# place=/home/pp/relay limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=3
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u relay_train.py 2>&1 | pre "stage$r: " & done; wait
