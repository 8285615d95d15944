# place=/workspace/fp8-lm limit=80
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 pretrain_fp8.py 2>&1 | tee logs/fp8_pretrain.txt >/dev/null
