# place=/lustre/home/kim/pt limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u pretrain.py > logs/pt-$r.out 2>&1 & done; wait
