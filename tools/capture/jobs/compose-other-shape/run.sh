# place=/workspace/tern limit=70 log=compose.log
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 OMP_NUM_THREADS=1
for r in 0 1 2; do RANK=$r FEATURES=$([ $r = 1 ] && echo 48 || echo 32) python -u tern.py 2>&1 | pre "trainer-$((r+1))  | " & done; wait
