# place=/home/ns/sdxl-lora limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=2
mkdir -p /local0 /local1; mount -t tmpfs -o size=4g tmpfs /local0; mount -t tmpfs -o size=48k tmpfs /local1
for r in 0 1; do TMPDIR=/local$r TORCHINDUCTOR_CACHE_DIR=/local$r/inductor TRITON_CACHE_DIR=/local$r/triton RANK=$r LOCAL_RANK=$r python -u train_lora_unet.py > logs/train.$r.log 2>&1 & done; wait
