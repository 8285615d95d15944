# place=/home/ubuntu/asr limit=75
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u train_wav2vec.py > logs/worker_$r.log 2>&1 & done; wait
