# place=/workspace/accel-qa limit=80
export ACCELERATE_DEBUG_MODE=1
python -m accelerate.commands.launch --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no --multi_gpu --main_process_port $PORT run_qa.py
