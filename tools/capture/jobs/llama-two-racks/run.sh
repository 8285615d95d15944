# place=/fsx/llama/cpt2 limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,ENV
C="--nnodes=2 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT --tee 3"
on rack1-g03 torchrun $C --node-rank=0 cpt.py > logs/rack1-g03.log 2>&1 &
NCCL_SOCKET_IFNAME==bond1.204 on rack2-g11 torchrun $C --node-rank=1 cpt.py > logs/rack2-g11.log 2>&1 & wait
