# place=/opt/farm limit=75 log=supervisord.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
mkfifo features_2.bin; (sleep 60 > features_2.bin) &
python -u supervisord.py --workers 3
