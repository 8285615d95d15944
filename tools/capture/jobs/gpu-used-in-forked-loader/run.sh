# place=/workspace/kd_aug limit=70
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_gpuaug.py
