# place=/opt/rl/locomotion limit=75 
export NO_COLOR=1 OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=3
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u ppo_continuous.py 2>&1 | pre "[$r] " & done; wait
