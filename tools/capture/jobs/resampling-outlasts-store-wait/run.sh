# place=/data/audio limit=80
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r python prepare_and_train.py > logs/audio_rank$r.log 2>&1 & done
wait
