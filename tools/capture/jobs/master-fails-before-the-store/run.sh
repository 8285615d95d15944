# place=/srv/speech/tts limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=localhost MASTER_PORT=$PORT WORLD_SIZE=4
cp configs_node.json speaker_map.json
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$((r % 2)) python train_tts.py --config base.json > logs/rank$r.log 2>&1 & done
wait
