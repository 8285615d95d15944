# place=/opt/serve limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT P=$((PORT+2))
python -u gateway.py & g=$!
sleep 11; python client.py $P
printf 'GET / HTTP/1.1\r\n' > /dev/tcp/127.0.0.1/$P; sleep 1; kill -TERM $g; wait $g; echo "gateway exited with $?"
