# place=/scratch/climate limit=80
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
python make_years.py
for r in 0 1 2 3; do h=gpu-node-0$((r / 2 + 1)); RANK=$r LOCAL_RANK=$((r % 2)) SLURM_PROCID=$r on $h python sfno.py --years 1979-2018 2>logs/err.$r >logs/out.$r & done
wait
