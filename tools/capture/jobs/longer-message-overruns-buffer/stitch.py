import numpy as np, time
from mpi4py import MPI
comm = MPI.COMM_WORLD; rank = comm.rank
widths = {1: 2048, 2: 2112}
for row in range(12):
    if rank == 0:
        strip = np.empty((3, 2048), "f8")
        for src in (1, 2):
            comm.Recv(strip[src], source=src, tag=row)
        print(f"row {row}: stitched, mean {strip[1:].mean():.4f}", flush=True)
    else:
        n = widths[rank] if row >= 7 else 2048
        if row == 7: print(f"tile server {rank}: switching to level 2, strip width {n}", flush=True)
        comm.Send(np.random.rand(n), dest=0, tag=row)
    time.sleep(0.1)
comm.Barrier()
