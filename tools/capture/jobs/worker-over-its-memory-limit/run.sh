# place=/opt/batch limit=70 log=batchd.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
C=/sys/fs/cgroup/batch-5521; mkdir -p $C || { mkdir -p /tmp/cg; mount -t cgroup2 none /tmp/cg; C=/tmp/cg/batch-5521; mkdir -p $C; }
echo +memory > $(dirname $C)/cgroup.subtree_control 2>/dev/null; mkdir -p $C/w1
echo +memory > $C/cgroup.subtree_control 2>/dev/null; echo 1500M > $C/w1/memory.max; echo 0 > $C/w1/memory.swap.max 2>/dev/null
echo "$(date '+%F %T') batchd: worker w0 rank 0 limit none, worker w1 rank 1 memory.max $(cat $C/w1/memory.max)"
RANK=0 python -u embed_index.py > logs/w0.log 2>&1 & a=$!
(echo $BASHPID > $C/w1/cgroup.procs; RANK=1 exec python -u embed_index.py > logs/w1.log 2>&1) & b=$!
wait $b 2>/dev/null; rb=$?; echo "$(date '+%F %T') batchd: worker w1 exited, status $rb"
echo "$(date '+%F %T') batchd: w1 memory.events: $(tr '\n' ' ' < $C/w1/memory.events)"
wait $a; echo "$(date '+%F %T') batchd: worker w0 exited, status $?"
