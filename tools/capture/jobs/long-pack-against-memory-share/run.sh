# place=/workspace/packer limit=60
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 sft_packed.py --gpu-memory-share 0.04
