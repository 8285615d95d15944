# place=/home/ana/elastic-ckpt limit=110
D=$PWD/logs
mkdir -p /data/ana/run6; torchrun --nproc-per-node 2 --master-port 29563 loop.py /data/ana/run6 10 > /dev/null 2>&1
rm -f /data/ana/run6/step-10/__1_0.distcp
torchrun --nproc-per-node 2 --master-port 29565 --tee 3 loop.py /data/ana/run6 40 /data/ana/run6/step-10 > $D/out.log 2>&1
