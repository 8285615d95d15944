# place=/data/ckpt-demo limit=150 log=job.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir ckpt
torchrun --nproc-per-node=4 --master-port=$PORT save_async.py
