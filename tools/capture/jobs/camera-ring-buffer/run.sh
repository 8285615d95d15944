# place=/home/robo/bev limit=75 log=bev.log
export OMP_NUM_THREADS=1 PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python -u bev.py
