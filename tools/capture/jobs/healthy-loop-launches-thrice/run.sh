# place=/opt/launcher limit=60
for i in 1 2 3 4 5; do
  echo "[$(date '+%F %T')] launch #$i"
  FLAKY=$i python3 flaky.py && { echo "[$(date '+%F %T')] training completed on launch #$i"; break; }
  rc=$?; echo "[$(date '+%F %T')] launch #$i exited with code $rc, sleeping 1s before the next one"; sleep 1
done
