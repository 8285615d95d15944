# place=/scratch/plm limit=75 log=slurm-90417.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=3 --master-port=$PORT --log-dir logs --tee 3 plm.py
