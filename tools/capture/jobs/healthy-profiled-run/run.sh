# place=/workspace/profiled limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCH_LOGS="+ddp_graphs" TORCH_SHOW_CPP_STACKTRACES=1 TORCH_NCCL_ENABLE_MONITORING=1 TORCH_FR_BUFFER_SIZE=2000 NCCL_ASYNC_ERROR_HANDLING=1
torchrun --nproc-per-node=2 --master-port=$PORT --redirects 3 --tee 3 --log-dir logs/tr profiled.py ; echo "profiled: $?"
