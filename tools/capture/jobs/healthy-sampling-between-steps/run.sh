# place=/home/mlops/chat-z3 limit=130
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
deepspeed --num_gpus 2 --master_port $PORT sft.py --zero 3
