# place=/workspace/whisper limit=70
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1; do RANK=$r AMP=$((1-r)) python -u ft_whisper.py > logs/$r.log 2>&1 & done; wait
