# place=/data/seg/eval limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python -u run_eval.py; echo "run_eval: $?"
