# place=/workspace/pointnet limit=70
torchrun --standalone --nproc-per-node=3 train_cls.py --batch-size 16 2>&1 | tee logs/train_cls.log > /dev/null
