# place=/opt/paramrpc limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
for r in 0 1; do TP_SOCKET_IFNAME=$([ $r = 1 ] && echo bond0 || echo lo) RANK=$r python -u rpc_train.py > logs/rpc_$r.log 2>&1 && echo "worker$r finished" & done; wait
