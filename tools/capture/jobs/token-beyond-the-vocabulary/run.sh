# place=/opt/minimega limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u pretrain_mp.py --tp 2 > logs/mp_rank_$(printf %02d $r).log 2>&1 & done; wait
