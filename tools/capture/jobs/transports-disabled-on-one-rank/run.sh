# place=/workspace/p2p limit=90
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=INFO
for r in 0 1; do [ $r = 1 ] && export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1; RANK=$r python -u yolo.py 2>&1 | pre "rank$r | " & done; wait
