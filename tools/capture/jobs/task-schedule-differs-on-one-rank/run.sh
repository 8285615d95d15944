# place=/workspace/multitask limit=75 
export TORCH_DISTRIBUTED_DEBUG=DETAIL
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 multitask.py 
