# place=/workspace/dinofeat limit=60
export OMP_NUM_THREADS=1 TORCH_HOME=$PWD/th MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
for r in 0 1; do RANK=$r python -u extract.py 2>&1 | stamp "worker$r" & done; wait
