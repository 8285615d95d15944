# place=/data/lane limit=80
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
mkdir -p frames; for k in $(seq 0 79); do python -S -c "print(end='')"; break; done
python mk.py
for r in 0 1 2 3; do RANK=$r python -u lanenet.py 2>&1 | pre "lane-$r: " & done; wait
