# place=/opt/specaug limit=100
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
C=/sys/fs/cgroup/specaug; mkdir -p $C || { mkdir -p /tmp/cg; mount -t cgroup2 none /tmp/cg; C=/tmp/cg/specaug; mkdir -p $C; }
echo +cpu > $(dirname $C)/cgroup.subtree_control 2>/dev/null
for r in 0 1 2; do (RANK=$r exec python -u train_kws2.py 2>&1) | pre "[node-$r] " & done
for i in $(seq 100); do sleep 0.3; [ -f pid1 ] && break; done; echo "1000 100000" > $C/cpu.max; cat pid1 > $C/cgroup.procs; wait
