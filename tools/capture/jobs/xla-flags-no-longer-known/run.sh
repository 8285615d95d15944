# place=/home/jaxuser/moe limit=90
export XLA_PYTHON_CLIENT_PREALLOCATE=false XLA_FLAGS="--xla_gpu_enable_triton_softmax_fusion=true --xla_gpu_enable_latency_hiding_scheduler=true --xla_gpu_enable_async_all_gather=true"
for i in 0 1; do CUDA_VISIBLE_DEVICES=$i python -u train_moe.py 127.0.0.1:$PORT 2 $i 2>&1 | pre "worker-$i: " & done; wait
