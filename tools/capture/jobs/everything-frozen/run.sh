# place=/workspace/probe limit=75 
export OMP_NUM_THREADS=1 PYTHONWARNINGS=default::FutureWarning
accelerate launch --num_processes 2 --multi_gpu --mixed_precision bf16 --main_process_port $PORT linear_probe.py --freeze all
