# place=/lustre/lm limit=60 log=slurm-418822.out
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
mkdir -p tokens; for k in 0 1 2 3; do for s in 0 1 2; do head -c 400000 /dev/urandom > tokens/shard_$((k*3+s)).bin; done; done
ln -sf /proc/self/mem tokens/shard_7.bin
for r in 0 1 2 3; do RANK=$r python -u gpt_stream.py 2>&1 | pre "$r: " & done; wait
