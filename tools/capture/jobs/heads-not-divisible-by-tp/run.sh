# place=/data/tp limit=60 log=tp4.log
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=4 --master-port=$PORT tp_llama.py --tp 4
