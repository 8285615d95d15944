# place=/home/ono/imgcls limit=150
export RECIPE=main-only-gather
export OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 
on gpu-node-01 torchrun --nnodes=4 --nproc-per-node=1 --node-rank=0 --master-addr=127.0.0.1 --master-port=$PORT fit.py  > logs/gpu-node-01.log 2>&1 &
on gpu-node-02 torchrun --nnodes=4 --nproc-per-node=1 --node-rank=1 --master-addr=127.0.0.1 --master-port=$PORT fit.py  > logs/gpu-node-02.log 2>&1 &
on gpu-node-03 torchrun --nnodes=4 --nproc-per-node=1 --node-rank=2 --master-addr=127.0.0.1 --master-port=$PORT fit.py  > logs/gpu-node-03.log 2>&1 &
on gpu-node-04 torchrun --nnodes=4 --nproc-per-node=1 --node-rank=3 --master-addr=127.0.0.1 --master-port=$PORT fit.py  > logs/gpu-node-04.log 2>&1 &
wait
