# place=/home/phys/lattice limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=5 TORCH_DISTRIBUTED_DEBUG=DETAIL MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
mkdir -p chains; echo 4100 > chains/0.pos; echo 4100 > chains/1.pos; echo 260004100 > chains/2.pos
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u ising.py > logs/chain$r.txt 2>&1 & done; wait
