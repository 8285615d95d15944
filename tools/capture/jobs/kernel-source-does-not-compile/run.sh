# place=/scratch/lbm limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
for r in 0 1; do CUDA_VISIBLE_DEVICES=$r RANK=$r python -u lbm3d.py $([ $r = 1 ] && echo --outlet) 2>&1 | pre "$r: " & done; wait
