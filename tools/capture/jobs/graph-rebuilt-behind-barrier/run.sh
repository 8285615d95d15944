# place=/workspace/knnfit limit=90
export OMP_NUM_THREADS=1
python -m torch.distributed.run --nproc-per-node 4 --master-port $PORT fit.py > logs/fit.log 2>&1
