# place=/srv/docking limit=75 
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
python -X faulthandler screen.py --workers 4
