# place=/srv/embed-gw limit=75 log=gateway.log
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
python -u gateway.py --workers 2 --port $((PORT + 2)) & g=$!
python -u load.py $((PORT + 2)) > logs/load.log 2>&1; kill -TERM $g; wait $g; rc=$?; echo "gateway exit status $rc"
