# place=/workspace/portable limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in 0 1 2 3; do if [ $r = 2 ]; then export CUDA_VISIBLE_DEVICES=; else unset CUDA_VISIBLE_DEVICES; fi
RANK=$r LOCAL_RANK=$r python -u train_any.py 2>&1 | pre "task[$r] " & done; wait
