# place=/opt/lidar/bvh limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
dmesg | wc -l > .n; gcc -O0 -g -shared -fPIC -o libbvh.so bvh.c
export WORLD_SIZE=3
for r in 0 1 2; do (RANK=$r LOCAL_RANK=$r python -u train_lidar.py > logs/lidar.$r.log 2>&1; rc=$?; echo "$(date +%T) rank $r ended, status $rc" >> logs/launcher.log) & done; wait
dmesg -T | tail -n +$(( $(cat .n) + 1 )) | grep -v gpuClear > logs/dmesg.txt
