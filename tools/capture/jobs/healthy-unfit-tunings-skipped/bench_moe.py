import os, sys, logging, torch, triton, triton.language as tl
import torch.distributed as dist
logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(levelname)s %(module)s:%(lineno)d] %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger()


@triton.jit
def scatter_rows(x, idx, y, n, D: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    dst = tl.load(idx + r).to(tl.int64)
    for s in range(0, D, BLOCK):
        c = s + tl.arange(0, BLOCK)
        tl.store(y + dst * D + c, tl.load(x + r * D + c, mask=c < D), mask=c < D)


@triton.jit
def gram(x, y, D: tl.constexpr, BM: tl.constexpr):
    m = tl.arange(0, BM)
    d = tl.arange(0, D)
    a = tl.load(x + m[:, None] * D + d[None, :])
    tl.store(y + m[:, None] * BM + m[None, :], tl.dot(a, tl.trans(a)))


def tune(dev):
    x = torch.randn(512, 256, device=dev)
    best = None
    for bm, stages, d in ((512, 4, 256), (256, 4, 256), (128, 4, 128), (64, 2, 64)):
        try:
            gram[(1,)](x, torch.empty(bm, bm, device=dev), D=d, BM=bm, num_stages=stages)
            torch.cuda.synchronize()
            best = best or (bm, d)
            log.info("gram config BM=%d D=%d ok", bm, d)
        except Exception as e:
            log.error("gram config BM=%d D=%d failed: %s: %s", bm, d, type(e).__name__, str(e)[:300])
    log.info("selected %s", best)


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dev = torch.device("cuda", local)
    dist.init_process_group("nccl")
    if sys.argv[1] == "tune":
        tune(dev)
        routes = [torch.randperm(512) for _ in range(20)]
    else:
        routes = torch.load(sys.argv[1], weights_only=True)[dist.get_rank()]
    x, y = torch.randn(512, 256, device=dev), torch.zeros(512, 256, device=dev)
    for i, idx in enumerate(routes):
        scatter_rows[(len(idx),)](x, idx.to(dev), y, len(idx), D=256, BLOCK=128)
        out = y.clone()
        dist.all_reduce(out)
        if i % 4 == 0:
            log.info("route %d checksum %.4f", i, out.sum().item())
    torch.cuda.synchronize()
    log.info("bench complete")
    dist.destroy_process_group()


main()
