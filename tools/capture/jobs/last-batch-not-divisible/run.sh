# place=/home/jaxuser/sharded limit=70
export XLA_PYTHON_CLIENT_PREALLOCATE=false
for i in 0 1; do CUDA_VISIBLE_DEVICES=$i python -u train_sharded.py 127.0.0.1:$PORT 2 $i 2>&1 | pre "task $i: " & done; wait
