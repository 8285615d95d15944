# place=/opt/vlm limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do CUDA_VISIBLE_DEVICES=$([ $r = 0 ] && echo 0 || echo 0,1) RANK=$r LOCAL_RANK=$r python -u engine_rank.py > logs/engine_$r.log 2>&1 & done; wait
