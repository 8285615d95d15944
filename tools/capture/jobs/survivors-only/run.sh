# place=/home/ola/marl limit=70 log=/dev/null
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
for r in 0 1 2 3; do o=logs/out.$r; [ $r = 1 ] && o=/tmp/x.out; RANK=$r python -u marl.py > $o 2>&1 & done; wait
