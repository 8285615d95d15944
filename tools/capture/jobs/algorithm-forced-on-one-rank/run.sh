# place=/workspace/unet3d limit=105
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export NCCL_P2P_DISABLE=1
for r in 0 1 2 3; do
  e=""; [ $r = 3 ] && e="NCCL_ALGO=Tree NCCL_PROTO=Simple"; [ $r != 3 ] && e="NCCL_ALGO=Ring NCCL_PROTO=LL"
  env $e RANK=$r LOCAL_RANK=$r python unet3d.py > logs/rank-$r.log 2>&1 &
done
wait
