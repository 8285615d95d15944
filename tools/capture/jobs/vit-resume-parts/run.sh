# place=/work/vit limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python first_part.py; truncate -s 8388608 ckpt/step4000-part1of4.pt
torchrun --nproc-per-node=4 --master-port=$PORT train_vit.py
