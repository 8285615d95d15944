# place=/data/summ-eval limit=70
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 --log-dir tl rouge_eval.py --split test 
