# place=/scratch/llm/spiky limit=75
export OMP_NUM_THREADS=1 PORT
python -u train.py > logs/train.txt 2>&1
