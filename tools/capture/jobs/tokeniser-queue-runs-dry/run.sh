# place=/srv/streamlm limit=110
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u train_stream_lm.py > logs/trainer_$r.log 2>&1 & done; wait
