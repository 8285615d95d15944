# place=/workspace/compile-bench limit=120
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCH_LOGS=graph_breaks,recompiles
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_compiled.py 
