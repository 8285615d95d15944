# place=/workspace/pets limit=90
export OMP_NUM_THREADS=1
python -u main.py --nproc 2 --epochs 3; echo "main.py: $?"
