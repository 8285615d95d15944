# place=/home/ray/rankers limit=110
export RAY_AUTH_MODE=disabled RAY_USAGE_STATS_ENABLED=0 RAY_DEDUP_LOGS=0 NO_COLOR=1 OMP_NUM_THREADS=1 RAY_DISABLE_DOCKER_CPU_WARNING=1
mkdir -p logs; python -u driver.py; echo "driver exit $?"
