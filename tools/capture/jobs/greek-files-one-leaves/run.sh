# place=/srv/salinity limit=60 log=run.out
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 OMP_NUM_THREADS=1
n=0; for name in alpha beta gamma; do RANK=$n python fit.py > logs/$name.log 2>&1 & n=$((n+1)); done; wait
