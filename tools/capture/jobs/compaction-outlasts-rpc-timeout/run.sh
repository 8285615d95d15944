# place=/opt/rl/impala limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=localhost MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r timeout 45 python impala.py --env breakout 2> >(pre "[1,$r]<stderr>:" >&2) > >(pre "[1,$r]<stdout>:") & done
wait; sleep 1
