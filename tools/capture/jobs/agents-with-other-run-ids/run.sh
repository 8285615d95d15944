# place=/lustre/proj/bert limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
C="--nnodes=2 --nproc-per-node=1 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-conf=join_timeout=18,timeout=18,last_call_timeout=3"
on gpu-node-01 torchrun $C --rdzv-id=bert_1121a pretrain_bert.py > logs/gpu-node-01.log 2>&1 & sleep 1
on gpu-node-02 torchrun $C --rdzv-id=bert_1121b pretrain_bert.py > logs/gpu-node-02.log 2>&1 & wait
