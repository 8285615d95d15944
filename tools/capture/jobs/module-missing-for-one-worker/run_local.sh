#!/bin/bash
# starts one python per GPU slot; usage: run_local.sh <port> <logdir>
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$1 WORLD_SIZE=4
pids=()
for r in 0 1 2 3; do
  export RANK=$r
  PYTHONPATH=/home/nora/bert-small/site-$r python3 pretrain.py > $2/worker.$r.log 2>&1 &
  pids+=($!)
done
for i in 0 1 2 3; do
  wait ${pids[$i]}; echo "$(date '+%F %T') worker $i (pid ${pids[$i]}) exited with status $?"
done
