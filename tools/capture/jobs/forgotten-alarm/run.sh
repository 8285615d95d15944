# place=/workspace/mt limit=60
torchrun --nproc-per-node=4 --master-port=$PORT evaluate_mt.py --sets wmt14 wmt19 flores
