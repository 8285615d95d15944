# place=/data/tiles/super-res limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --redirects 3 --tee 3 --local-ranks-filter 1 --log-dir logs/ranks train_sr.py 
