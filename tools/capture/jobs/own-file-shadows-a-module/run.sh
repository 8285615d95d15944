# place=/home/student/stats limit=40
python make.py
torchrun --nproc-per-node=2 --master-port=$PORT regress.py; echo "exit $?"
