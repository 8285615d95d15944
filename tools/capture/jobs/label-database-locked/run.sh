# place=/data/labelstore limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=3
python -c "import sqlite3; c = sqlite3.connect('labels.db'); c.execute('create table t (r int, i int)'); c.commit()"
for r in 0 1 2; do RANK=$r python -u pseudo_label.py --db labels.db 2>&1 | pre "[$r]: " & done; wait
