# place=/mnt/geo/landcover limit=75 log=landcover.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 TILES=http://127.0.0.1:$((PORT + 2))
python -u proxy.py $((PORT + 2)) & s=$!
sleep 2
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u landcover.py 2>&1 & w="$w $!"; done; wait $w; kill $s; echo "landcover: all parts ended"
