# place=/home/gus/fern limit=70
python main.py 2>&1
