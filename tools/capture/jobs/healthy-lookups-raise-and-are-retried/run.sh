# place=/opt/paramserver limit=75 
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
for r in 0 1 2; do RANK=$r python -u ps_run.py 2>&1 | pre "ps-$r | " & done; wait; echo "all processes ended, status ${PIPESTATUS[0]}"
