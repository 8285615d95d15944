# place=/workspace/tbfull limit=60
export OMP_NUM_THREADS=1
mkdir -p tb; mount -t tmpfs -o size=8k tmpfs tb
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_stt.py
