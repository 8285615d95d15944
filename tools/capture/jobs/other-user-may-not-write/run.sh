# place=/shared/proj/hydro limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
mkdir -p out/restart; chmod 755 out/restart out; chmod a+rx . ; P=$(readlink -f $(which python3))
for r in 0 1 2 3; do W=; [ $r = 3 ] && W="setpriv --reuid=1207 --regid=1207 --clear-groups"
HOME=/tmp RANK=$r LOCAL_RANK=$r on gpu-node-0$((r/2+1)) $W ${PYBIN:-python3} -u hydro_solver.py 2>&1 | pre "$r: " & done; wait
