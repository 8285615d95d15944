# place=/home/ubuntu/yolov8 limit=60
torchrun --nproc-per-node=4 --master-port=$PORT train.py --device 0,1,2,3
