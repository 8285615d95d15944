# place=/data/rank/items2 limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
(while [ ! -s items/part-2.seen ]; do sleep 0.3; done; sleep 1; head -c 4096 items/part-1.f32 > items/new; cat items/new > items/part-2.f32) &
for r in 0 1 2; do (RANK=$r LOCAL_RANK=$r python -u rank_items.py > logs/ranker-$r.log 2>&1; echo "ranker-$r: exit code $?" >> logs/exits.txt) & done; wait
