# place=/workspace/video limit=110
torchrun --nproc-per-node=4 --max-restarts=2 --master-port=$PORT --tee 3 train_video.py --resume auto
