# place=/home/u1442/moe limit=80
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 NCCL_DEBUG=WARN
for r in 0 1 2 3; do
  h=gpu-node-0$((r / 2 + 1)); e=""
  [ $r = 2 ] && e="NCCL_SOCKET_IFNAME=ens1f0 NCCL_SOCKET_FAMILY=AF_INET"
  env $e RANK=$r LOCAL_RANK=$((r % 2)) SLURM_PROCID=$r on $h python train_moe.py 2>&1 | pre "$r: " &
done
wait; sleep 1
