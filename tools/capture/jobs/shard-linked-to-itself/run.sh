# place=/srv/elastic/cpc limit=110
D=$PWD/logs
mkdir -p /mnt/nfs/cpc2; for i in 0 1 2 3 4 5 6 7; do echo /mnt/nfs/cpc2/s$i; head -c $((1000+i)) /dev/zero > /mnt/nfs/cpc2/s$i.0; head -c 999 /dev/zero > /mnt/nfs/cpc2/s$i.1; done > man2.txt
rm /mnt/nfs/cpc2/s4.0; ln -s /mnt/nfs/cpc2/s4.0 /mnt/nfs/cpc2/s4.0
timeout 100 torchrun --nproc-per-node 2 --max-restarts 1 --master-port 29741 main.py x man2.txt > $D/agent.log 2>&1; echo "torchrun exit code $?" >> $D/agent.log
