# place=/srv/dedup limit=80
export OMP_NUM_THREADS=1
python dedup.py --workers 4
