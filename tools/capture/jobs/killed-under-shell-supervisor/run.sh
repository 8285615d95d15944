# place=/srv/ranker limit=70 log=supervisor.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
declare -A pid
for r in 0 1 2; do RANK=$r python -u fit_ranker.py > logs/trainer-$r.log 2>&1 & pid[$r]=$!; echo "$(date '+%F %T') started trainer-$r pid ${pid[$r]}"; done
( for i in $(seq 120); do sleep 0.25; grep -q "round 9 " logs/trainer-2.log && break; done; kill -9 ${pid[2]} ) 2>/dev/null &
left=3
while [ $left -gt 0 ]; do
  wait -n -p who "${pid[@]}"; rc=$?
  for r in 0 1 2; do [ "${pid[$r]}" = "$who" ] && { echo "$(date '+%F %T') trainer-$r (pid $who) exited with status $rc"; unset pid[$r]; }; done
  left=$((left-1))
done 2>/dev/null
