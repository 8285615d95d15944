import os, time, torch, torch.distributed.rpc as rpc
rank = int(os.environ["RANK"]); names = ["driver", "table0", "table1"]
TABLE = torch.zeros(1000, 16)
def lookup(ids):
    time.sleep(0.002)
    if ids[0] == 13: raise IndexError("row 13 is being compacted, ask again")
    return TABLE[ids]
rpc.init_rpc(names[rank], rank=rank, world_size=3, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=20))
if rank == 0:
    again = 0
    for step in range(200):
        for t in names[1:]:
            try: rpc.rpc_sync(t, lookup, args=([step % 20, 5],))
            except Exception as e:
                again += 1
                if again < 4: print(f"step {step}: {t}: row 13 busy, retried", flush=True)
        if step % 50 == 49: print(f"step {step + 1}/200 lookups ok, {again} retried", flush=True)
    print("epoch finished, shutting down tables", flush=True)
    rpc.shutdown(graceful=True)
else:
    rpc.shutdown(graceful=True)
print(f"{names[rank]}: bye", flush=True)
