# place=/workspace/webtext limit=80 log=kubectl-logs.txt
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
mkdir -p text; python - <<'P'
import gzip, os, random
random.seed(3)
for i in range(16):
    lines = "\n".join(" ".join(str(random.randint(0, 5000)) for _ in range(64)) for _ in range(3000))
    b = bytearray(gzip.compress(lines.encode()))
    if i == 10: b[len(b) // 2: len(b) // 2 + 300] = os.urandom(300)
    open(f"text/part-{i:03d}.gz", "wb").write(b)
P
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u train_web.py 2>&1 | stamp | pre "[pod/webtext-worker-$r/pytorch] " & done; wait
