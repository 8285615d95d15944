# place=/home/j/gemma limit=80
export JAX_PLATFORMS=cpu OMP_NUM_THREADS=1
for r in 0 1; do PROC=$r python train_flax.py > logs/process_$r.log 2>&1 & done
wait
