# place=/home/ray/spot limit=130
export RAY_AUTH_MODE=disabled RAY_USAGE_STATS_ENABLED=0 RAY_DEDUP_LOGS=0 NO_COLOR=1 OMP_NUM_THREADS=1 RAY_DISABLE_DOCKER_CPU_WARNING=1
python -u train_spot.py; echo "rc=$?"
