# place=/opt/ginkgo limit=60 log=ginkgo.log
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 OMP_NUM_THREADS=1
for r in 0 1 2; do RANK=$r python -u ginkgo.py & done 2>&1; wait
