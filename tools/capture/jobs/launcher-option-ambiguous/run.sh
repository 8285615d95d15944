# place=/workspace/olm limit=90
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train.py --run olm-1b-resume
