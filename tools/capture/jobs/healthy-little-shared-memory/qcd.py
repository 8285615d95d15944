import numpy as np, time
from mpi4py import MPI
c = MPI.COMM_WORLD
if c.rank == 0: print("lattice 32^3 x 64, 4 domains", flush=True)
for s in range(20):
    x = np.random.rand(400000); y = np.empty_like(x)
    c.Sendrecv(x, (c.rank + 1) % c.size, recvbuf=y, source=(c.rank - 1) % c.size)
    p = c.allreduce(float(y.mean()))
    if c.rank == 0: print(f"sweep {s} plaquette {p / c.size:.6f}", flush=True)
