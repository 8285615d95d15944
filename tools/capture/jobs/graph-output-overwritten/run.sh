# place=/workspace/decode limit=110
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 bench_decode.py --mode reduce-overhead
