# place=/srv/index/build limit=110
D=$PWD/logs
mkdir -p /data/idx; rm -f /data/idx/index.bin; python3 -c "
import fcntl,time
f=open('/data/idx/.index.lock','a+'); f.truncate(0); f.write('pid 41207@gpu-a03 since 2026-11-19T08:02:11\n'); f.flush(); fcntl.flock(f,fcntl.LOCK_EX); time.sleep(75)" & H=$!; sleep 1
torchrun --nproc-per-node 2 --master-port 29701 prepare.py /data/idx > $D/prepare.log 2>&1; kill $H
