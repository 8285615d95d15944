# place=/home/sim/halo limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=localhost MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r python heat3d.py --steps 400 > >(pre "[1,$r]<stdout>:") 2> >(pre "[1,$r]<stderr>:" >&2) & done
wait
sleep 1
