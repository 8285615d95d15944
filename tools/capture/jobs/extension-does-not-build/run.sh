# place=/opt/apps/rope limit=90
export OMP_NUM_THREADS=2 MAX_JOBS=2
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 finetune_7b.py
