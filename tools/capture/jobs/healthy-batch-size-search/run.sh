# place=/workspace/whisper-ft limit=90
cat > acc.yaml <<E
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: fp16
num_machines: 1
num_processes: 2
gpu_ids: all
main_process_port: $PORT
E
python -m accelerate.commands.launch --config_file acc.yaml distil.py
