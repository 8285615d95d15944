# place=/opt/schist limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 OMP_NUM_THREADS=1
for r in 0 1; do RANK=$r on ml-node$((r+4)) python -u schist.py > logs/ml-node$((r+4)).txt 2>&1 & done; wait
