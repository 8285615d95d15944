# place=/workspace/bert limit=60 log=run_all.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
HOSTS=(gpu-node-01 gpu-node-01 gpu-node-02)
for r in 0 1 2; do
  echo "starting rank $r on ${HOSTS[$r]}"
  RANK=$r LOCAL_RANK=$((r % 2)) on ${HOSTS[$r]} python train_mlm.py > logs/rank_$r.txt 2>&1 &
done
wait
