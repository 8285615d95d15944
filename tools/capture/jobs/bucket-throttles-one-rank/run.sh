# place=/opt/train limit=70
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 clip_stream.py --bucket http://127.0.0.1:$((PORT+3))
