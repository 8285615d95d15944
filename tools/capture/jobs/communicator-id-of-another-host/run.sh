# place=/opt/ml/bev limit=80 log=job.err
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=WARN NCCL_COMM_ID=10.42.7.15:29987
for r in 0 1; do RANK=$r python -u bev.py 2>&1 | pre "$r: " & done; wait
