# place=/data/ctr/fm limit=75 log=slurm-551902.out
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_NCCL_DESYNC_DEBUG=1
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u fm.py 2>&1 | pre "$r: " & done; wait
