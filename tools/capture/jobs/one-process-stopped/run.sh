# place=/opt/babysit limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
python -u babysit.py & b=$!; until grep -qs "it 150" logs/gan.2.log; do sleep 0.3; done; kill -STOP $(cat pids/2); wait $b
