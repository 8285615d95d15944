# place=/opt/stereo limit=40
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do WORLD_SIZE=$((2 + r)) RANK=$r LOCAL_RANK=$r python -u train_stereo.py 2>&1 | pre "[stereo-worker-$r] " & done; wait
