# place=/home/u88/pointcloud limit=80
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT SLURM_NTASKS=2
for r in 0 1; do CUDA_VISIBLE_DEVICES=$r SLURM_PROCID=$r SLURM_LOCALID=$r on gpu-node-01 python minkunet.py 2>&1 | pre "$r: " & done
wait; sleep 1
