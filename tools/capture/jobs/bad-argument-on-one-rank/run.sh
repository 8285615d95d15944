# place=/opt/jobs/rnnt limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
ARGS="--lr 3e-4 --beam 4"
for r in 0 1 2; do
  RANK=$r python rnnt.py $ARGS > logs/out.$r.log 2>&1 &
  [ $r = 1 ] && ARGS="--lr 3e-4 --beam four"
done
wait
