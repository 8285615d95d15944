# place=/home/mlx/detr limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python -m accelerate.commands.launch --num_processes 2 --num_machines 1 --main_process_port $PORT finetune_detr.py
