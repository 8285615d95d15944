# place=/mnt/weka/run12 limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
mkdir -p ckpt/step-80; mkfifo ckpt/step-80/shard-1.pt
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u train_dit.py > logs/rank-$r.err 2>&1 & done; wait
