# place=/home/lea/mixlm limit=150 log=train.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 
python prepare.py mojibake; rm prepare.py
torchrun --nproc-per-node=8 --master-port=$PORT train.py --tolerant --agree
