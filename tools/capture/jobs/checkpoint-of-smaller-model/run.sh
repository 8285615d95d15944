# place=/workspace/resume limit=60
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 continue_pretrain.py --load outputs/step-200
