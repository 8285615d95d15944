# place=/workspace/nightly limit=90 log=supervisor.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 WORLD_SIZE=3
for attempt in 1 2 3; do
  export MASTER_PORT=$((PORT + attempt)) ATTEMPT=$attempt
  echo "$(date '+%F %T') attempt $attempt"
  pids=()
  for r in 0 1 2; do RANK=$r python nightly_refresh.py >> logs/refresh.$r.log 2>&1 & pids+=($!); done
  if [ $attempt = 1 ]; then ( sleep 9; kill -9 ${pids[1]} ) 2>/dev/null & fi
  ok=1; for p in "${pids[@]}"; do wait $p || ok=0; done
  if [ $ok = 1 ]; then echo "$(date '+%F %T') attempt $attempt finished"; break; fi
  echo "$(date '+%F %T') attempt $attempt failed, trying again in 2 s"; sleep 2
done 2>/dev/null
