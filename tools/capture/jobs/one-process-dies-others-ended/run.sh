# place=/home/kai/stoat limit=60
python stoat.py 2>&1
