# place=/scratch/vitdet limit=75 
mkdir -p weights; ln -s backbone_latest.pt weights/backbone_v3.pt; ln -s backbone_v3.pt weights/backbone_latest.pt
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_vitdet.py --init weights/backbone_latest.pt 
