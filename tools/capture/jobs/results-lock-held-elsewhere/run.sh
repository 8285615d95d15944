# place=/lustre/proj/nerf limit=105
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python holder.py & 
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r on gpu-node-0$((r / 2 + 1)) python nerf.py > logs/nerf.$r.out 2>&1 & done
wait %2 %3 %4 %5
