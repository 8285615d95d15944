# place=/home/bio/unet3d limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_PORT=$PORT NCCL_DEBUG=WARN
python -u fit_unet3d.py 2>&1 | stamp
