# place=/home/rl/ppo limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCH_DISTRIBUTED_DEBUG=DETAIL TORCH_CPP_LOG_LEVEL=WARNING
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 ppo.py 
