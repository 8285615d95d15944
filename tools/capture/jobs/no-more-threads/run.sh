# place=/workspace/tiny limit=60
export OMP_NUM_THREADS=1
C=/sys/fs/cgroup/tiny-88; mkdir -p $C || { mkdir -p /tmp/cg; mount -t cgroup2 none /tmp/cg; C=/tmp/cg/tiny-88; mkdir -p $C; }
echo +pids > $(dirname $C)/cgroup.subtree_control; echo 90 > $C/pids.max; echo $$ > $C/cgroup.procs
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_audio.py --readers 48
