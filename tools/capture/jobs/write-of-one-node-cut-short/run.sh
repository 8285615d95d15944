# place=/opt/fm limit=80 log=slurm-221804.log
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=3
mkdir -p /local/n0 /local/n1 /local/n2
mount -t tmpfs -o size=40m tmpfs /local/n2
for r in 0 1 2; do NCCL_HOSTID=n$r RANK=$r LOCAL_RANK=$((r % 2)) on gpu-node-0$((r + 1)) python -u foundation.py --ckpt /local/n$r/ckpt 2>&1 | pre "gpu-node-0$((r + 1)): " & done; wait
