# place=/opt/repo limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
mkdir -p a b; cp models_good.txt a/models.py; cp models_node.txt b/models.py
for r in 0 1 2; do d=a; [ $r = 1 ] && d=b; PYTHONPATH=$PYTHONPATH:$PWD/$d RANK=$r python -u fit.py 2>&1 | pre "n$r> " & done; wait
