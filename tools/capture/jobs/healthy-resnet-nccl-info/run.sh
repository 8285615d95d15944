# place=/workspace/resnet limit=100
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export NCCL_DEBUG=INFO
unset OMP_NUM_THREADS
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 imagenet.py -a resnet18 
