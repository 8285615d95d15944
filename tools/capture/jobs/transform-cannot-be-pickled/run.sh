# place=/workspace/detlite limit=60
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT train_det.py -j 2
