# place=/srv/quant limit=60
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 mcmc.py --chains 3
