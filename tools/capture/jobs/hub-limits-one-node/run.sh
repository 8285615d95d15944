# place=/home/ft/qwen limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4 HF_ENDPOINT=http://127.0.0.1:$((PORT + 3)) HF_HUB_DISABLE_XET=1
python hubmirror.py $((PORT + 3)) & sleep 1.5
for r in 0 1 2 3; do HF_HOME=/tmp/hf$r RANK=$r LOCAL_RANK=$r on gpu-node-0$((r+1)) python -u ft_qwen.py > logs/gpu-node-0$((r+1)).out 2>&1 & done; wait $(jobs -p | tail -4); kill %1
