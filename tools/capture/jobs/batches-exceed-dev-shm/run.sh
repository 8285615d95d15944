# place=/workspace/mri limit=75 
mount -t tmpfs -o size=3m tmpfs /dev/shm
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT  unet3d.py 
