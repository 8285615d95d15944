# place=/opt/matte limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=3
for t in "0 0" "1 1" "2 1"; do set -- $t; RANK=$2 LOCAL_RANK=$2 python -u train_matte.py > logs/task$1.log 2>&1 & done; wait
