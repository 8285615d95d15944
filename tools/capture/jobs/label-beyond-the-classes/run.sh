# place=/data/inat limit=100
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export NCCL_DEBUG=WARN
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --log-dir logs train_inat.py --classes 5089 
