# place=/workspace/videodiff limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in $(seq 0 3); do DTYPE=$([ $r = 1 ] && echo float32 || echo bfloat16) RANK=$r LOCAL_RANK=$r python -u train_video.py 2>&1 | stamp "rank$r" & done; wait
