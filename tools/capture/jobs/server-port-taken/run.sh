# place=/app/embed limit=80
export OMP_NUM_THREADS=2 EMBED_PORT=$((PORT + 3))
python -m http.server $EMBED_PORT >/dev/null 2>&1 &
other=$!
sleep 2
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 embed_server.py
kill $other
