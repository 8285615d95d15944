# place=/scratch/tarn limit=60 log=console.txt
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
mpirun --allow-run-as-root --oversubscribe --output-filename out -np 4 python -u heat.py >/dev/null 2>console.err; mkdir -p logs; cp -r out/1 logs/; cp console.err logs/mpirun.err
