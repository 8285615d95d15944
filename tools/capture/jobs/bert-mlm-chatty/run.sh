# place=/workspace/bert limit=75
export OMP_NUM_THREADS=1 TORCH_DISTRIBUTED_DEBUG=INFO NCCL_DEBUG=VERSION NCCL_IB_TIMEOUT=22 TORCH_NCCL_BLOCKING_WAIT=0 NCCL_ASYNC_ERROR_HANDLING=1
C="--nnodes=2 --nproc-per-node=1 --master-addr=127.0.0.1 --master-port=$PORT --tee 3"
for n in 0 1; do on bert$n torchrun $C --node-rank=$n mlm.py > logs/bert$n.txt 2>&1 & done; wait
