# place=/home/vision/clipft limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p export; mount -t tmpfs -o size=64m tmpfs export
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 --log-dir logs finetune_clip.py --out export/clip-b16 
