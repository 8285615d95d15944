# place=/home/ml/translate limit=80
on gpu-node-01 torchrun --nnodes=2 --node-rank=0 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT train.py 2>&1 | pre "gpu-node-01: " &
on gpu-node-02 torchrun --nnodes=2 --node-rank=1 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT train.py 2>&1 | pre "gpu-node-02: " &
wait; sleep 1
