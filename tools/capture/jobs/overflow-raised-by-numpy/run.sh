# place=/srv/quant2 limit=60
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 hmc.py --chains 3
