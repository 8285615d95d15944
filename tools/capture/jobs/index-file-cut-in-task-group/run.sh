# place=/srv/asyncload limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=3
mkdir -p idx; for i in 0 1 2 3 4 5; do echo "{\"shard\": $i, \"rows\": [1, 2, 3]}" > idx/$i.json; done; head -c 19 idx/4.json > idx/t; mv idx/t idx/4.json
for r in 0 1 2; do RANK=$r python -u stream_train.py > logs/trainer-$r.log 2>&1 & done; wait
