# sourced on each host
export MASTER_ADDR=127.0.0.1
export MASTER_PORT=$PORT
[ "$HOSTNAME_SHORT" = act-c ] && export MASTER_PORT=$((PORT + 3))
export WORLD_SIZE=4 OMP_NUM_THREADS=1
