# place=/home/lab/pl2 limit=110
export NCCL_DEBUG=INFO
python fit_classifier.py 2>&1; echo "exit: $?"
