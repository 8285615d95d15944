# place=/home/seg/cityscapes limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=3
for r in 0 1 2; do
  if [ $r = 1 ]; then M='mount -o remount,bind,ro /dev/shm'; else M=true; fi
  RANK=$r LOCAL_RANK=$r unshare --mount bash -c "$M; exec python -u train_seg.py" 2>&1 | pre "task$r: " &
done; wait
