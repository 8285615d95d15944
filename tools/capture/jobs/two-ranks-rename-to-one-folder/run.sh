# place=/nfs/runs/bart limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
for r in 0 1; do RANK=$r python -u run_summarization.py --output_dir out --save_steps 20 > logs/node$r.log 2>&1 & done; wait
