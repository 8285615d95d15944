# place=/srv/elastic/cpc limit=110
D=$PWD/logs
mkdir -p /mnt/nfs/cpc; for i in 0 1 2 3 4 5 6 7; do echo /mnt/nfs/cpc/s$i; head -c $((1000+i)) /dev/zero > /mnt/nfs/cpc/s$i.0; head -c 999 /dev/zero > /mnt/nfs/cpc/s$i.1; done > man.txt
mv /mnt/nfs/cpc/s5.1 /mnt/nfs/cpc/.s5.1.part; (sleep 2; while ! grep -q "s5.1'" $D/agent.log; do sleep 0.1; done; mv /mnt/nfs/cpc/.s5.1.part /mnt/nfs/cpc/s5.1) &
timeout 100 torchrun --nproc-per-node 2 --max-restarts 2 --master-port 29731 main.py x man.txt > $D/agent.log 2>&1; echo "torchrun exit code $?" >> $D/agent.log
