# place=/home/pt/climate limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1 2 3; do mkdir -p /mnt/out/vol$r; mount -t tmpfs -o size=200m tmpfs /mnt/out/vol$r; done
(until ls /mnt/out/vol3/state-00060.pt; do sleep 0.5; done; mount -o remount,ro /mnt/out/vol3) > .m 2>&1 &
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41  forecast.py --out /mnt/out > logs/gpu-node-01.log 2>&1 & p1=$!
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --local-addr 127.0.0.1  forecast.py --out /mnt/out > logs/gpu-node-02.log 2>&1 & p2=$!
wait $p1 $p2; grep /mnt/out /proc/mounts > logs/mounts.txt
