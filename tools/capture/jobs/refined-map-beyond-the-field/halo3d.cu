#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <nccl.h>
#define MPICHECK(cmd) do { int e = cmd; if (e != MPI_SUCCESS) { printf("Failed: MPI error %s:%d '%d'\n", __FILE__, __LINE__, e); exit(EXIT_FAILURE); } } while (0)
#define CUDACHECK(cmd) do { cudaError_t e = cmd; if (e != cudaSuccess) { printf("[rank %d] Failed: Cuda error %s:%d '%s'\n", rank, __FILE__, __LINE__, cudaGetErrorString(e)); fflush(stdout); MPI_Abort(MPI_COMM_WORLD, 3); } } while (0)
#define NCCLCHECK(cmd) do { ncclResult_t r = cmd; if (r != ncclSuccess) { printf("[rank %d] Failed, NCCL error %s:%d '%s'\n", rank, __FILE__, __LINE__, ncclGetErrorString(r)); fflush(stdout); MPI_Abort(MPI_COMM_WORLD, 4); } } while (0)
__global__ void relax(float *u, const long *map, long n) { long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n) u[map[i]] = 0.5f * u[map[i]] + 1.f; }
__global__ void identity(long *map, long n) { long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n) map[i] = i; }
__global__ void refine(long *map, long n, long shift) { long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n / 8) map[i] += shift; }
int main(int argc, char **argv) {
    int rank, size; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
    setvbuf(stdout, 0, _IOLBF, 0);
    long n = 1 << 20; float *u; long *map; cudaStream_t s; ncclUniqueId id; ncclComm_t comm;
    CUDACHECK(cudaSetDevice(rank)); CUDACHECK(cudaMalloc(&u, n * sizeof(float))); CUDACHECK(cudaMemset(u, 0, n * sizeof(float))); CUDACHECK(cudaMalloc(&map, n * sizeof(long))); CUDACHECK(cudaStreamCreate(&s));
    identity<<<n / 256, 256, 0, s>>>(map, n); CUDACHECK(cudaStreamSynchronize(s));
    if (rank == 0) NCCLCHECK(ncclGetUniqueId(&id));
    MPICHECK(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD));
    NCCLCHECK(ncclCommInitRank(&comm, size, id, rank));
    printf("rank %d: %ld cells\n", rank, n);
    for (int t = 0; t < 400; t++) {
        if (t == 250 && rank == 0) { printf("rank 0: refining %ld cells at step %d\n", n / 8, t); refine<<<n / 256, 256, 0, s>>>(map, n, 1L << 36); }
        relax<<<n / 256, 256, 0, s>>>(u, map, n);
        CUDACHECK(cudaStreamSynchronize(s));
        NCCLCHECK(ncclAllReduce(u, u, 1024, ncclFloat, ncclSum, comm, s));
        CUDACHECK(cudaStreamSynchronize(s));
        if (rank == 0 && t % 50 == 0) printf("step %d\n", t);
    }
    MPI_Finalize();
}
