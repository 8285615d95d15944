# place=/home/jaxuser/mlp limit=90
export XLA_PYTHON_CLIENT_PREALLOCATE=false
for i in 0 1; do CUDA_VISIBLE_DEVICES=$i python -u train_moe_jax.py 127.0.0.1:$PORT 2 $i > logs/host$i.log 2>&1 & done; wait
