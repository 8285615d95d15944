# place=/workspace/bevformer limit=60
bash tools/dist_train.sh projects/configs/bev_tiny.py 2
