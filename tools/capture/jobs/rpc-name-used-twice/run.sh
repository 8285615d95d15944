# place=/opt/impala limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1 WORLD_SIZE=3
for r in 0 1 2; do RANK=$r ACTOR_INDEX=$((r / 2)) python -u actor_learner.py > logs/proc-$r.txt 2>&1 & done; wait
