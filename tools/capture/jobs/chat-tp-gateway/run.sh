# place=/opt/chat limit=75 log=gateway.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 NCCL_DEBUG=WARN
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u gateway.py & done; wait
