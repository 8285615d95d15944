# place=/home/ana/dqn limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python -u learner.py
