# place=/workspace/multilabel limit=80
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u chexpert.py 2>&1 | pre "[trainer-$r/0]:" & done; wait
