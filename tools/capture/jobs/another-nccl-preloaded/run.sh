# place=/home/hpc/ddp limit=60
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=2
mkdir -p /opt/nccl-2.14/lib; echo 'int ncclGetVersion(int *v) { *v = 21403; return 0; } const char *ncclGetErrorString(int r) { return "unhandled"; }' > n.c
gcc -shared -fPIC -Wl,-soname,libnccl.so.2 -o /opt/nccl-2.14/lib/libnccl.so.2 n.c; rm n.c
for r in 0 1; do P=; [ $r = 1 ] && P=/opt/nccl-2.14/lib/libnccl.so.2
(env LD_PRELOAD=$P RANK=$r LOCAL_RANK=$r ${PYBIN:-python3} -u resnet_ddp.py > logs/out.$r 2> logs/err.$r; rc=$?; echo "$(hostname) rank $r: exit $rc") & done; wait
