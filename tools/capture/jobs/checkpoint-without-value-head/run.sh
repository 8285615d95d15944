# place=/workspace/dcp-gpt limit=100
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
HEAD=0 torchrun --nproc-per-node=2 --master-port=$PORT > /dev/null 2>&1 pretrain_dcp.py 
HEAD=1 torchrun --nproc-per-node=2 --master-port=$((PORT+1)) --tee 3 pretrain_dcp.py --resume
