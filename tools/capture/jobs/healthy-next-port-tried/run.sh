# place=/home/dev/toy limit=80 log=run_train.log
export OMP_NUM_THREADS=1 P0=$PORT
bash run_train.sh
