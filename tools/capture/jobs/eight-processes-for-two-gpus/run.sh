# place=/workspace/llava-ft limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
deepspeed --num_gpus 8 --master_port $PORT finetune_llava.py --bits 16 2>&1; echo "exit status $?"
