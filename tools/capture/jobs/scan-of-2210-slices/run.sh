# place=/data/ct/infer limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python - <<'P'
import json
json.dump([{"id": f"CT{i:03d}", "shape": [64, 128 + 16 * (i % 4), 128]} for i in range(57)] + [{"id": "CT057", "shape": [2210, 1024, 1024]}] + [{"id": f"CT{i:03d}", "shape": [64, 144, 128]} for i in range(58, 80)], open("scans.json", "w"))
P
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --tee 2 --log-dir logs predict_ct.py --list scans.json 
