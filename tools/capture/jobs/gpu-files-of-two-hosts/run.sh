# place=/scratch/yew limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 OMP_NUM_THREADS=1
r=0; for h in host1 host2; do for g in 0 1; do (RANK=$r; export RANK; on $h python -u yew.py $g > logs/$h-gpu$g.log 2>&1) & r=$((r+1)); done; done; wait
