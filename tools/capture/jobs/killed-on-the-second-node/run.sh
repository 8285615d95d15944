# place=/srv/train limit=75
export OMP_NUM_THREADS=1 MODE=kill:3 TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1
for n in 0 1; do python -m torch.distributed.run --nnodes 2 --node-rank $n --nproc-per-node 2 --master-addr 127.0.0.1 --master-port $PORT tpdp.py > logs/node$n.log 2>&1 & done; wait
