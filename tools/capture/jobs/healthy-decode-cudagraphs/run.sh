# place=/home/nv/decode-bench limit=160
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCH_LOGS=perf_hints,recompiles,cudagraphs
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 decode.py 
