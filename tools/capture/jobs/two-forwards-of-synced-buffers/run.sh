# place=/workspace/siamese limit=60 log=log.txt
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 siamese.py
