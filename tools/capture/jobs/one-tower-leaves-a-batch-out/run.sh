# place=/workspace/towers limit=90
export OMP_NUM_THREADS=1
for n in 0 1; do python -m torch.distributed.run --nnodes 2 --node-rank $n --nproc-per-node 4 --master-addr 127.0.0.1 --master-port $PORT rank_towers.py > logs/host$n.log 2>&1 & done; wait
