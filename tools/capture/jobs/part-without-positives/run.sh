# place=/workspace/retina limit=75 
export NO_COLOR=1 COLUMNS=110 OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 screen_eval.py --split val 
