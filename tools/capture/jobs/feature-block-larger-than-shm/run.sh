# place=/opt/featserve limit=80
mount -t tmpfs -o size=64m tmpfs /dev/shm
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_ctr.py
