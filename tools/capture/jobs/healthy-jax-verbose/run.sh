# place=/home/jaxuser/vit limit=100
export XLA_PYTHON_CLIENT_PREALLOCATE=false TF_CPP_MIN_LOG_LEVEL=0
for i in 0 1; do CUDA_VISIBLE_DEVICES=$i python -u train_vit_jax.py 127.0.0.1:$PORT 2 $i 2>&1 | pre "w$i " & done; wait
