# place=/home/student/hw3 limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
python ddp_mnist.py; echo "exit code $?"
