# place=/data/moe limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do ([ $r = 0 ] && ulimit -v 15000000; RANK=$r LOCAL_RANK=$r python -u export_moe.py > logs/export.$r.txt 2>&1) & done; wait
