# place=/workspace/fits limit=90
export OMP_NUM_THREADS=1
for n in 0 1; do python -m torch.distributed.run --nnodes 2 --node-rank $n --nproc-per-node 2 --master-addr 127.0.0.1 --master-port $PORT fit.py > logs/node-$n.txt 2>&1 & done; wait
