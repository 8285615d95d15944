# place=/data/cells limit=85
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
dmesg | wc -l > .n
C=/sys/fs/cgroup/job-88213; mkdir -p $C || { mkdir -p /tmp/cg; mount -t cgroup2 none /tmp/cg; C=/tmp/cg/job-88213; mkdir -p $C; }
echo +memory > $(dirname $C)/cgroup.subtree_control 2>/dev/null; echo +memory > $C/cgroup.subtree_control 2>/dev/null
for r in 0 1 2 3; do mkdir -p $C/task_$r; echo 5G > $C/task_$r/memory.max; echo 0 > $C/task_$r/memory.swap.max 2>/dev/null
(echo $BASHPID > $C/task_$r/cgroup.procs; RANK=$r LOCAL_RANK=$r python -u segment_cells.py --cache > logs/task_$r.out 2>&1; rc=$?; echo "$(date +%T) task_$r (rank $r) exit status $rc" >> logs/launch.log) & done
wait $(jobs -p)
dmesg -T | tail -n +$(( $(cat .n) + 1 )) > logs/dmesg.txt
