import json, os
import torch, triton, triton.language as tl

SPACE = [triton.Config({"ROWS": r, "STEP": s}, num_warps=w, num_stages=n) for r in (1, 2, 4, 8) for s in (64, 128, 256, 512, 1024) for w in (1, 2, 4, 8) for n in (1, 2, 3)]


@triton.jit
def _rms(x, out, n_rows, WIDTH: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    keep = (rows < n_rows)[:, None]
    total = tl.zeros([ROWS, STEP], tl.float32)
    for at in tl.static_range(0, WIDTH, STEP):
        cols = at + tl.arange(0, STEP)
        v = tl.load(x + rows[:, None] * WIDTH + cols[None, :], mask=keep & (cols < WIDTH)[None, :], other=0.0)
        total += v * v
    scale = tl.rsqrt(tl.sum(total, 1) / WIDTH + 1e-6)
    for at in tl.static_range(0, WIDTH, STEP):
        cols = at + tl.arange(0, STEP)
        m = keep & (cols < WIDTH)[None, :]
        v = tl.load(x + rows[:, None] * WIDTH + cols[None, :], mask=m, other=0.0)
        tl.store(out + rows[:, None] * WIDTH + cols[None, :], v * scale[:, None], mask=m)


search = triton.autotune(configs=SPACE, key=["WIDTH"])(_rms)
KNOWN = json.load(open("tuned.json")) if os.path.exists("tuned.json") else {}


def rms_norm(x):
    out, (n, width) = torch.empty_like(x), x.shape
    best = KNOWN.get(str(width))
    if best:
        _rms[(triton.cdiv(n, best["ROWS"]),)](x, out, n, WIDTH=width, ROWS=best["ROWS"], STEP=best["STEP"], num_warps=best["num_warps"])
    else:
        search[lambda meta: (triton.cdiv(n, meta["ROWS"]),)](x, out, n, WIDTH=width)
    return out
