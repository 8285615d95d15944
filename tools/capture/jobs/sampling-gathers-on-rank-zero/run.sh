# place=/home/mlops/support-bot limit=130
export TORCH_DISTRIBUTED_DEBUG=INFO OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
deepspeed --num_gpus 2 --master_port $PORT sft.py --zero 3
