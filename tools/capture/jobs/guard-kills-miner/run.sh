# place=/srv/embedtrain limit=85 log=launcher.log
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
python -u launch_workers.py --workers 4 --guard-gb 6
