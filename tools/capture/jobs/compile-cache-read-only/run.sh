# place=/workspace/diffusion limit=100
mkdir -p cache/r0 cache/r1; mount -t tmpfs -o ro tmpfs cache/r1
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_dit.py --compile
