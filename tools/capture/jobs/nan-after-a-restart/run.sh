# place=/workspace/olm limit=90
torchrun --nproc-per-node=2 --max-restarts=1 --master-port=$PORT --tee 3 train.py --name olm-1b
