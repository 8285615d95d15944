# place=/data/gen/latent-unet limit=75 log=stdout.jsonl
export OMP_NUM_THREADS=1 TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/fr_ TORCH_FR_DUMP_TEMP_FILE=logs/fr_
torchrun --nproc-per-node=3 --master-port=$PORT --log-dir logs/torchrun --redirects 0 train_unet.py
