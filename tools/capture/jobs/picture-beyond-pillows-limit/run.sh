# place=/workspace/histo limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p slides
python - <<'P'
import struct, zlib, random
from PIL import Image
def chunk(t, d): return struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
for i in range(96):
    Image.effect_noise((224, 224), 40).convert("RGB").save(f"slides/TCGA-{i:04d}.png", compress_level=1)
open("slides/TCGA-0070.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 81920, 61440, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))
P
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --log-dir logs train_tiles.py --tiles slides/ 
