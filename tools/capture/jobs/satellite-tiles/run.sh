# place=/home/geo/kacheln limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p pids
(while [ ! -s pids/2.n100 ]; do sleep 0.3; done; kill -9 $(cat pids/2.0)) &
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u segment.py > logs/prozess$r.log 2>&1 & done; wait
