# place=/home/zoe/flow limit=75
export OMP_NUM_THREADS=1 NCCL_NET=aws-ofi NCCL_DEBUG=WARN
python -u flow.py
