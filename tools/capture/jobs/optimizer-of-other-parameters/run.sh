# place=/workspace/whisper-ft limit=100 log=slurm-60417.out
export OMP_NUM_THREADS=1
A="accelerate launch --num_processes 2 --multi_gpu --mixed_precision no --main_process_port $PORT"
$A finetune.py --out run1 --steps 3 > /dev/null 2>&1
$A finetune.py --out run1 --steps 20 --resume --train-embeddings 2>&1; echo "status $?"
