# place=/home/sci/pca limit=70
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u spectral.py 2>&1 | pre "[1,$r]<stdout>:" & done; wait
