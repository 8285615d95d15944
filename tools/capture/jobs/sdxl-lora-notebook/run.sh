# place=/workspace/lora-xl limit=75 log=nohup.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=WARN CUDA_VISIBLE_DEVICES=0 NCCL_HOSTID=ws-lora
torchrun --standalone --nproc-per-node=2 lora.py --rank 16 --resolution 1024
