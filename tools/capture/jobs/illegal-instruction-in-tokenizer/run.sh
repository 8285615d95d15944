# place=/opt/bpe limit=70
gcc -O2 -shared -fPIC -o libfastbpe.so fastbpe.c
export PYTHONFAULTHANDLER=0
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 encode_and_train.py
