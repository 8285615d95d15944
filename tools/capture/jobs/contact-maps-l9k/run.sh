# place=/data/fold/contacts limit=75 log=events.jsonl
export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=3 --master-port=$PORT contacts.py
