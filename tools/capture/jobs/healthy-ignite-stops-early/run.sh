# place=/workspace/ignite-cifar limit=90
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT main.py; echo "exit $?"
