# place=/workspace/multi limit=80
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,BOOTSTRAP,NET
for r in 0 1 2 3; do export NCCL_SOCKET_FAMILY=AF_INET; [ $r = 3 ] && export NCCL_SOCKET_FAMILY=AF_INET6; RANK=$r LOCAL_RANK=$((r%2)) NCCL_HOSTID=h$((r/2)) on gpu-node-0$((r/2+1)) python -u train_cvt.py > logs/task_$r.out 2>&1 & done; wait
