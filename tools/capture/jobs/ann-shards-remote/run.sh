# place=/srv/search/retriever limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export INDEX_URL=http://127.0.0.1:$((PORT + 4))
python -u index_server.py $((PORT + 4)) & s=$!
sleep 1
torchrun --nproc-per-node=3 --master-port=$PORT --redirects 3 --log-dir logs/run --tee 3 train_retriever.py
kill $s
