# place=/home/ray/finetune limit=120
export RAY_AUTH_MODE=disabled RAY_USAGE_STATS_ENABLED=0 RAY_DEDUP_LOGS=0 NO_COLOR=1 OMP_NUM_THREADS=1 RAY_DISABLE_DOCKER_CPU_WARNING=1
mkdir -p data; for i in 0 2 3; do head -c 20000 /dev/urandom > data/part-0000$i.bin; done; python -u train.py; echo "rc=$?"
