import os, torch, torch.distributed.rpc as rpc
rank = int(os.environ["RANK"])
print(f"worker{rank}: starting rpc, TP_SOCKET_IFNAME={os.environ['TP_SOCKET_IFNAME']}", flush=True)
rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=10, init_method=f"tcp://127.0.0.1:{os.environ['MASTER_PORT']}", _transports=["uv"]))
if rank == 0: print(rpc.rpc_sync("worker1", torch.add, args=(torch.ones(2), 1)), flush=True)
rpc.shutdown()
