import warnings, sys, time
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD; rank, size = comm.rank, comm.size
u = np.random.default_rng(rank).random((66, 256))
with warnings.catch_warnings():
    warnings.simplefilter("always")
    ratio = np.zeros(4) / np.zeros(4)
print(f"rank {rank}: error estimator not available for level 0 (nan), using residual", flush=True)
for it in range(40):
    req = [comm.Isend(np.ascontiguousarray(u[1]), (rank - 1) % size), comm.Isend(np.ascontiguousarray(u[-2]), (rank + 1) % size)]
    a, b = np.empty(256), np.empty(256)
    comm.Recv(a, source=(rank + 1) % size); comm.Recv(b, source=(rank - 1) % size)
    MPI.Request.Waitall(req)
    u[-1], u[0] = a, b
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    err = comm.allreduce(float(abs(np.diff(u)).max()), MPI.MAX)
    if rank == 0 and it % 5 == 0: print(f"it {it:3d} error {err:.4e} failed_cells 0", flush=True)
    if it == 17 and rank == 2:
        print("WARNING: line search failed to reduce residual, restarting with smaller step (1 of 3 tries)", file=sys.stderr, flush=True)
        time.sleep(1)
if rank == 0: print(f"converged after 40 iterations, error {err:.4e}", flush=True)
