import os, pytest, socket, torch, torch.distributed as dist, torch.multiprocessing as mp
from datetime import timedelta
def port():
    with socket.socket() as s: s.bind(("127.0.0.1", 0)); return s.getsockname()[1]
def body(rank, which, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2, timeout=timedelta(seconds=4))
    if which == "raises" and rank == 1: raise RuntimeError("CUDA error: an illegal memory access was encountered (injected)")
    if which == "exits" and rank == 0: os._exit(3)
    if which == "silent" and rank == 1: return
    t = torch.ones(4); dist.all_reduce(t); assert t[0] == 2
    dist.destroy_process_group()
def test_all_reduce(): mp.spawn(body, ("ok", port()), 2)
def test_failure_is_reported():
    with pytest.raises(mp.ProcessRaisedException) as e: mp.spawn(body, ("raises", port()), 2)
    print(e.value)
def test_exit_code_is_reported():
    with pytest.raises((mp.ProcessExitedException, mp.ProcessRaisedException)) as e: mp.spawn(body, ("exits", port()), 2)
    print(e.value)
def test_absent_peer():
    with pytest.raises(Exception) as e: mp.spawn(body, ("silent", port()), 2)
    print(e.value)
