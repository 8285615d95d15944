# place=/home/kg/linkpred limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p runs
torchrun --nproc-per-node=4 --master-port=$PORT --max-restarts=2 --monitor-interval=1 --tee 3 train_kg.py --out runs/transe 
