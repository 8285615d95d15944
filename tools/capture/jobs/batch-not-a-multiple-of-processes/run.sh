# place=/workspace/nlp-recipes limit=80
cat > acc.yaml <<E
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: bf16
num_machines: 1
num_processes: 2
gpu_ids: all
main_process_port: $PORT
E
python -m accelerate.commands.launch --config_file acc.yaml finetune_ner.py --batch 25
