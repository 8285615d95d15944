import argparse, os, time
import torch, torch.distributed.rpc as rpc
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
t0 = time.time()
def say(m): print(f"{time.time() - t0:7.2f}s actor{rank} {m}" if rank else f"{time.time() - t0:7.2f}s learner {m}", flush=True)
BUFFER = []

def rollout(n, version):
    """Plays n frames, tidies the replay file every now and then."""
    frames = torch.rand(n, 84, 84)
    BUFFER.append(frames)
    if rank == 2 and len(BUFFER) == 14:
        say(f"replay file is {len(BUFFER) * 187} MB, compacting")
        for k in range(11):
            time.sleep(2)
            say(f"compacting segment {k + 1}/11")
        say("compaction finished")
    return frames.mean((1, 2))

def main():
    p = argparse.ArgumentParser(); p.add_argument("--env"); a = p.parse_args()
    torch.set_num_threads(1)
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=world, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=8))
    if rank == 0:
        for it in range(30):
            futs = [rpc.rpc_async(f"worker{k}", rollout, args=(20, it)) for k in (1, 2)]
            r = torch.cat([f.wait() for f in futs])
            if it % 3 == 0: say(f"iter {it} frames {it * 40} return {r.sum().item():.2f}")
            time.sleep(0.1)
        say("done")
    rpc.shutdown()

main()
