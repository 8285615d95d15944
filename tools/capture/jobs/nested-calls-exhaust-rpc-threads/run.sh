# place=/opt/agents limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
for r in 0 1; do RANK=$r python -u negotiate.py 2>&1 | pre "agent$r| " & done; wait
