# place=/opt/erica limit=60 log=erica.log
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
r=0; for h in hpc11 hpc12; do for g in 0 1; do (export RANK=$r; on $h python -u erica.py 2>&1 | pre "[$h/$g] ") & r=$((r+1)); done; done; wait
