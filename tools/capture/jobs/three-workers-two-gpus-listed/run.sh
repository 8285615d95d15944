# place=/srv/rerank limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
GPUS=(0 1)
N=3
export WORLD_SIZE=$N
for i in $(seq 0 $((N - 1))); do
  echo "launching reranker worker $i"
  CUDA_VISIBLE_DEVICES=${GPUS[$i]} RANK=$i LOCAL_RANK=0 NCCL_HOSTID=w$i python -u rerank_worker.py 2>&1 | pre "worker-$i  | " &
done
wait
