# place=/data/asr/distil-student limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python - <<'P'
import json
t = [{"name": f"Talker{i}"} for i in range(600)]; t[184]["name"] = None
json.dump(t, open("talkers.json", "w"))
P
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u transcribe.py > logs/transcribe.$r.txt 2>&1 & done; wait
