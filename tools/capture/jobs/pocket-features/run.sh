# place=/data/pockets limit=75 log=run.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python make_features.py; truncate -s 1500 features/T1242.npz
torchrun --nproc-per-node=4 --master-port=$PORT --log-dir logs --redirects 3 pockets.py
