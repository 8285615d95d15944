# place=/mnt/lustre/vlm limit=130
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4 TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_FR_DUMP_TEMP_FILE=logs/fr_trace_ TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/fr_trace_
mkdir -p shards; for s in $(seq 0 31); do head -c 65536 /dev/urandom > shards/vl-$s.bin; done; rm shards/vl-19.bin; mkfifo shards/vl-19.bin
(exec 9> shards/vl-19.bin; sleep 300) &
F=$!
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u train_vlm.py --tp 2 > logs/rank_$r.log 2>&1 & P="$P $!"; done; wait $P; kill $F
