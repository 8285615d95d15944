import time, queue
import torch, torch.multiprocessing as mp
def worker(rank, inq, outq):
    torch.cuda.set_device(rank)
    print(f"worker {rank} on {torch.cuda.get_device_name()}", flush=True)
    while True:
        i = inq.get()
        if i is None: break
        outq.put((rank, i, torch.full((3, 256, 256), float(i), device="cuda")))
        if rank == 1 and i == 7:
            print("worker 1: idle, scaling down", flush=True); outq.close(); outq.join_thread(); return
if __name__ == "__main__":
    ctx = mp.get_context("spawn"); inq = [ctx.Queue() for _ in range(2)]; outq = ctx.Queue()
    ps = [ctx.Process(target=worker, args=(r, inq[r], outq)) for r in range(2)]
    for p in ps: p.start()
    for i in range(6, 14):
        for r in range(2): inq[r].put(i)
        if i >= 7: time.sleep(3)
        for r in range(2):
            rank, n, img = outq.get(timeout=30)
            print(f"request {n} from worker {rank}: mean {img.mean().item():.1f}", flush=True); del img
    for q in inq: q.put(None)
