# place=/home/nlp/summ limit=75 log=summ.log
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT summ.py
