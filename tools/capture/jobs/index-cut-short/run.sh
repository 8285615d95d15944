# place=/data/mmap/indexed limit=90 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p idx; python - <<'P'
import struct
for r in range(3):
    with open(f"idx/doc_{r}.idx", "wb") as f:
        for i in range(900): f.write(struct.pack("<QII", i * 4096, 4096, i % 7))
        if r == 2: f.seek(0); f.truncate(16 * 611 + 5)
P
torchrun --nproc-per-node=3 --master-port=$PORT --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --max-restarts 1 --monitor-interval 1 --log-dir logs/elastic --redirects 3 --tee 2 train_indexed.py 
