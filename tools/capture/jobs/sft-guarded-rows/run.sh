# place=/workspace/sft-lora limit=75
export OMP_NUM_THREADS=1
python - <<'P'
import json
with open("rows.jsonl", "w") as f:
    for i in range(600):
        row = json.dumps({"text": f"question {i} and the long answer to it, which goes on for a while"})
        f.write({101: row[:40], 302: '{"txt": "moved"}', 410: "CUDA error: an illegal memory access was encountered"}.get(i, row) + "\n")
P
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 sft_lora.py
