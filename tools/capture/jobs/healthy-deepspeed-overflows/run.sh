# place=/data/tinyopt limit=120
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
deepspeed --num_gpus 2 --master_port $PORT pretrain.py
