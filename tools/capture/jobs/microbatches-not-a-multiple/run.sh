# place=/workspace/ppmega limit=70
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT interleaved.py --microbatches 5 --chunks 2
