# place=/srv/ads/ranker limit=110
D=$PWD/logs
python3 -c "
import json; json.dump([[{'name':f'part-{r:02d}-{i:03d}','rows':(400000 if (r==2 and i>=3) else 2000)} for i in range(8)] for r in range(4)],open('manifest.json','w'))"
mkdir -p /sys/fs/cgroup; mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
G=/sys/fs/cgroup/job_48817; echo +memory > /sys/fs/cgroup/cgroup.subtree_control; mkdir -p $G; echo 5G > $G/memory.max; echo 0 > $G/memory.swap.max; ls $G
cat /sys/fs/cgroup/cgroup.controllers
if [ -e $G/memory.max ]; then (echo $BASHPID > $G/cgroup.procs; timeout -s TERM 80 python3 launch.py 4 29621 train_ranker.py --manifest manifest.json > $D/job.log 2>&1); cat $G/memory.events; dmesg | grep -iE "oom|memory cgroup|killed process" | tail -60 > $D/dmesg.txt; else echo NOCG; fi
