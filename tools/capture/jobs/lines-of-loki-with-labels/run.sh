# place=/opt/corylus limit=60 log=loki.txt
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
for r in 0 1 2 3; do RANK=$r python -u corylus.py 2>&1 | while IFS= read -r l; do echo "$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ) {pod=\"corylus-$r\"} $l"; done & done; wait
