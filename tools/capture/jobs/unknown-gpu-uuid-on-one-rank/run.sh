# place=/workspace/llava limit=70
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
U=$(nvidia-smi -L | head -1 | grep -o 'GPU-[0-9a-f-]*')
RANK=0 LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=$U python -u train_mm.py > logs/mm.0.log 2>&1 &
RANK=1 LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=GPU-5c1c1a0e-7d0c-4f0b-9a52-6f0b8f7a1e11 python -u train_mm.py > logs/mm.1.log 2>&1 &
wait
