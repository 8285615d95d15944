# place=/workspace/kws limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
export NODE_RANK=1 GPUS_PER_NODE=1
for r in 0 1; do NODE_RANK=$((r + r)) RANK=$r LOCAL_RANK=0 python -u train_kws.py 2>&1 | pre "trainer-$r  | " & done; wait
