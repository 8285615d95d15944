# place=/srv/rerank limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
python -u rerank.py $((PORT + 2)) & g=$!; python -u clients.py $((PORT + 2)) > logs/clients.log 2>&1; kill -TERM $g; wait $g; echo "rerank exit status $?"
