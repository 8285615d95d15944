# place=/workspace/seqpar limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=5
for r in 0 1 2 3 4; do RANK=$r LOCAL_RANK=$r python -u pass_blocks.py > logs/chunk_$r.log 2>&1 & done; wait
