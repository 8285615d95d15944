# place=/home/users/kim/tabnet limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p env1; S=$(find -L /usr/local/cuda /usr/local /opt/torch /usr/lib -maxdepth 9 -path "*stubs/libcuda.so*" 2>/dev/null | head -1); mkdir -p /usr/local/cuda-13.0/compat; cp $S /usr/local/cuda-13.0/compat/libcuda.so.1
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do
  L=$LD_LIBRARY_PATH; [ $r = 1 ] && L=/usr/local/cuda-13.0/compat:$L
  LD_LIBRARY_PATH=$L RANK=$r LOCAL_RANK=$r python -u tabnet.py 2>&1 | pre "$r: " &
done; wait
