# place=/home/ml/pose limit=90
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 pose.py &
t=$!
( sleep 22; for p in $(ls /proc | grep -E '^[0-9]+$'); do tr '\0' '\n' < /proc/$p/environ | grep -q '^RANK=1' && kill -USR1 $p; done ) 2>/dev/null
wait $t; echo "exit code $?"
