# place=/workspace/pp-1f1b limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --tee 3 --log-dir logs pp_train.py 
