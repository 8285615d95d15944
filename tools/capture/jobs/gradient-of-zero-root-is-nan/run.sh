# place=/opt/flows limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=4
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u fit_flow.py 2>&1 | pre "$r: " & done; wait
