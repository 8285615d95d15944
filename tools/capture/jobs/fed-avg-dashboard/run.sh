# place=/opt/fedavg limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p web; echo "<h1>rounds</h1>" > web/index.html
python -m http.server $PORT --directory web > /dev/null 2>&1 & d=$!
sleep 3
for r in 0 1 2; do (RANK=$r LOCAL_RANK=$r python -u fedavg.py > logs/client$r.log 2>&1; echo "client $r: exit status $?" >> logs/status.txt) & w="$w $!"; done; wait $w
kill $d
