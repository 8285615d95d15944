# place=/lustre/proj/elastic-vit limit=90 log=jobscript.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
C="--nnodes=1:2 --nproc-per-node=1 --max-restarts=3 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=vit88 --rdzv-conf=last_call_timeout=3"
on gpu-node-01 torchrun $C elastic_vit.py > logs/gpu-node-01.log 2>&1 & a=$!; sleep 14
on gpu-node-02 torchrun $C elastic_vit.py > logs/gpu-node-02.log 2>&1 & b=$!; wait $a; echo "gpu-node-01: $?"; wait $b; echo "gpu-node-02: $?"
