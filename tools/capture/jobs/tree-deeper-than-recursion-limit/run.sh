# place=/srv/code limit=60
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 train_ast.py
