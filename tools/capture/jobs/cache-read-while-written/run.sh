# place=/home/user/kaggle limit=70
torchrun --standalone --nproc-per-node=2 train_tabular.py 2>&1
