# place=/home/lab/contrast limit=100
export MASTER_PORT=$PORT
python fit_simclr.py
