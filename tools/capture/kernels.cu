// Kernels that each do one thing wrong, called from scenarios/gpu_code.py on a tensor's data.
#include <cuda_runtime.h>

__global__ void scatter(float *rows) { rows[(1ll << 40) + threadIdx.x] = 1.0f; }
__global__ void pack(char *rows) { reinterpret_cast<float4 *>(rows + 1)[threadIdx.x] = float4{}; }
__global__ void check(float *rows) { if (threadIdx.x == 3) __trap(); rows[threadIdx.x] += 0.0f; }
__global__ void wide(float *rows) { rows[threadIdx.x] += 0.0f; }
// Spins for a hundred seconds: no write that anyone could see, no end that anyone waits for.
__global__ void poll(volatile float *rows) {
    long long begin = 0, now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); } while (now - begin < 100000000000ll && rows[0] > -1e30f);
}

extern "C" {
void scatter_rows(void *rows, cudaStream_t s) { scatter<<<1, 32, 0, s>>>(static_cast<float *>(rows)); }
void pack_rows(void *rows, cudaStream_t s) { pack<<<1, 32, 0, s>>>(static_cast<char *>(rows)); }
void check_rows(void *rows, cudaStream_t s) { check<<<1, 32, 0, s>>>(static_cast<float *>(rows)); }
void poll_rows(void *rows, cudaStream_t s) { poll<<<1, 32, 0, s>>>(static_cast<float *>(rows)); }
void wide_rows(void *rows, cudaStream_t s) { wide<<<1, 2048, 0, s>>>(static_cast<float *>(rows)); }
}
