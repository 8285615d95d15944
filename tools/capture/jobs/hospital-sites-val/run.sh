# place=/mnt/phi/sites limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_DISTRIBUTED_DEBUG=DETAIL
torchrun --nproc-per-node=3 --master-port=$PORT --log-dir logs/sites --redirects 3 --tee 2 sites.py --patients 412 390 61
