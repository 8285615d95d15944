# place=/home/kai/marten limit=60
python marten.py 2>&1
