# place=/home/noor/dialect limit=60
python train.py 2>&1
