# place=/opt/vc limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 GPU_OF_RANK=0,0,0,4 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u vc.py > logs/vc$r.log 2>&1 & done; wait
