# place=/opt/jobs/toy limit=40
export OMP_NUM_THREADS=1
torchrun --standalone --nproc-per-node=4 train.py retry ck.pt
