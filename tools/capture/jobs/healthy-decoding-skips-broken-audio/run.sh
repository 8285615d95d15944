# place=/opt/asr-eval limit=80
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 decode.py
