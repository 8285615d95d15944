# place=/home/ir/encode limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python -u encode.py --lists 4; echo "encode.py: $?"
