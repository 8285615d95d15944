# place=/workspace/fusedops limit=80
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p ext-gpu-node-02/fast_norm; touch ext-gpu-node-02/fast_norm/lock
for r in 0 1; do TORCH_EXTENSIONS_DIR=$PWD/ext-gpu-node-0$((r+1)) RANK=$r LOCAL_RANK=$r NCCL_HOSTID=n$r on gpu-node-0$((r+1)) python -u pretrain_vit.py 2>&1 | pre "gpu-node-0$((r+1)): " & done; wait
