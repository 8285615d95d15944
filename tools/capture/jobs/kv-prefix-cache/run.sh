# place=/opt/llmserve limit=75 log=serve.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1; do RANK=$r LOCAL_RANK=$r PREFIX_CACHE=$r python -u serve.py 2>&1 | stamp "dp$r" & done; wait
