# place=/opt/embedsrv limit=75 log=embedsrv.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
C=/sys/fs/cgroup/embedsrv; mkdir -p $C || { mkdir -p /tmp/cg; mount -t cgroup2 none /tmp/cg; C=/tmp/cg/embedsrv; mkdir -p $C; }
echo +memory > $(dirname $C)/cgroup.subtree_control 2>/dev/null; echo 4G > $C/memory.max; echo 0 > $C/memory.swap.max 2>/dev/null
dmesg -C 2>/dev/null
(echo $BASHPID > $C/cgroup.procs; exec torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 serve_embeddings.py --tables 6)
echo "unit exited with $?"; dmesg > logs/dmesg.txt
