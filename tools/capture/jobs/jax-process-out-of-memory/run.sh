# place=/home/jaxuser/diffusion limit=100
export XLA_PYTHON_CLIENT_PREALLOCATE=false XLA_PYTHON_CLIENT_MEM_FRACTION=.30
for i in 0 1; do CUDA_VISIBLE_DEVICES=$i python -u sample_images.py --coordinator 127.0.0.1:$PORT --num 2 --id $i 2>&1 | pre "[p$i] " & done; wait
