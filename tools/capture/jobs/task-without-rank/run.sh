# place=/home/astro/sim limit=60
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
export RANK LOCAL_RANK
i=0; for t in gpu-node-01:0 gpu-node-01:1 gpu-node-02:0 gpu-node-02:1; do
if [ $i = 2 ]; then (unset RANK; LOCAL_RANK=0 on gpu-node-02 python -u emulator.py 2>&1 | pre "$t: ") & else (RANK=$i LOCAL_RANK=${t#*:} on ${t%:*} python -u emulator.py 2>&1 | pre "$t: ") & fi; i=$((i+1)); done; wait
