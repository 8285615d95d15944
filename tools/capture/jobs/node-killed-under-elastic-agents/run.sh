# place=/data/elastic2 limit=100
export OMP_NUM_THREADS=1
C="--nproc-per-node=2 --nnodes=1:2 --max-restarts=3 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=spot7 --rdzv-conf=keep_alive_interval=2,keep_alive_max_attempt=3,last_call_timeout=6"
on gpu-node-01 torchrun $C spot_train.py > logs/gpu-node-01.log 2>&1 & m=$!
sleep 2; on gpu-node-02 setsid torchrun $C spot_train.py > logs/gpu-node-02.log 2>&1 & n=$!
for i in $(seq 60); do sleep 0.5; grep -q "step 12 " logs/gpu-node-01.log && break; done
pkill -9 -P $n; kill -9 $n; kill -9 -- -$n; wait $m
