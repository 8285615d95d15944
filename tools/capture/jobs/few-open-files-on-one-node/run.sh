# place=/srv/paramsync limit=40
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=4
for r in 0 1 2 3; do ([ $r = 2 ] && ulimit -n 26; RANK=$r python -u sync_params.py 2>&1) | pre "node$r " & done; wait
