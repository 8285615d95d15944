# place=/data/codellm limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
deepspeed --num_gpus 2 --master_port $PORT pretrain_code.py --dtype fp16 2>&1 | stamp
