# place=/opt/recsys limit=70
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
python -u cluster.py --trainers 2 --ps 2
echo "cluster.py: $?"
