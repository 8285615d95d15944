# place=/data/wds-train limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p s; python - <<'P'
import io, tarfile
import numpy as np
for s in range(8):
    with tarfile.open(f"s/cc-{s:04d}.tar", "w") as t:
        for k in range(64):
            for ext, data in (("npy", None), ("cls", b"%d" % (k % 10))):
                if (s, k, ext) == (5, 22, "cls"): continue
                if ext == "npy":
                    b = io.BytesIO(); np.save(b, np.random.rand(3, 32, 32).astype("f4")); data = b.getvalue()
                i = tarfile.TarInfo(f"{s:02d}{k:05d}.{ext}"); i.size = len(data); t.addfile(i, io.BytesIO(data))
P
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --tee 3 --log-dir logs train_clip_wds.py 
