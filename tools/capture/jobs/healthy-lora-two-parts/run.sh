# place=/home/hf/lora-resume limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for k in 1 2; do torchrun --nproc-per-node=2 --master-port=$PORT lora.py --part $k > logs/part$k.log 2>&1; echo "part $k: exit status $?"; done
