# place=/opt/jobs/toy limit=40
export OMP_NUM_THREADS=1
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
torchrun --standalone --nproc-per-node=4 --max-restarts 2 train.py elastic ck.pt
