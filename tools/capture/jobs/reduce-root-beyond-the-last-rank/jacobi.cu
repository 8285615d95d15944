#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#include <nccl.h>
#define CUDACHECK(cmd) do { cudaError_t e = cmd; if (e != cudaSuccess) { printf("Failed: Cuda error %s:%d '%s'\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(EXIT_FAILURE); } } while (0)
#define NCCLCHECK(cmd) do { ncclResult_t r = cmd; if (r != ncclSuccess) { printf("[%d] Failed, NCCL error %s:%d '%s'\n", rank, __FILE__, __LINE__, ncclGetErrorString(r)); exit(EXIT_FAILURE); } } while (0)
static void work(int rank, int n, ncclUniqueId id, int iters) {
    CUDACHECK(cudaSetDevice(rank));
    ncclComm_t comm; cudaStream_t s; double *x;
    CUDACHECK(cudaStreamCreate(&s)); CUDACHECK(cudaMalloc(&x, 1 << 20)); CUDACHECK(cudaMemset(x, 0, 1 << 20));
    NCCLCHECK(ncclCommInitRank(&comm, n, id, rank));
    for (int it = 0; it < iters; it++) {
        int root = (it / 50) % (rank == 1 ? n + 1 : n);
        NCCLCHECK(ncclReduce(x, x, 1024, ncclDouble, ncclSum, root, comm, s));
        CUDACHECK(cudaStreamSynchronize(s));
        if (rank == 0 && it % 25 == 0) { printf("iteration %4d residual %.6e (root %d)\n", it, 1.0 / (1 + it), root); fflush(stdout); }
    }
    ncclCommDestroy(comm);
}
int main(int argc, char **argv) {
    int n = 2, iters = 400; ncclUniqueId id; int rank = -1;
    setvbuf(stdout, 0, _IOLBF, 0);
    NCCLCHECK(ncclGetUniqueId(&id));
    std::vector<std::thread> t;
    for (int r = 0; r < n; r++) t.emplace_back(work, r, n, id, iters);
    for (auto &x : t) x.join();
    printf("converged\n");
}
