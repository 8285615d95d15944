# place=/scratch/astro limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
for r in 0 1; do CUDA_VISIBLE_DEVICES=$r RANK=$r python -u correlate.py --channels 4096 > logs/correlate.$r.log 2>&1 & done; wait
