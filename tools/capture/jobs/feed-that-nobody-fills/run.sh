# place=/srv/ads/ranker limit=110
D=$PWD/logs
mkdir -p /var/run/feed; for r in 0 1 2 3; do rm -f /var/run/feed/feed$r; python3 -c "print('{\"scale\": 0.5}')" > /var/run/feed/feed$r; done; rm /var/run/feed/feed2; mkfifo /var/run/feed/feed2
(for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo '{"scale": 0.5}' > /var/run/feed/feed2; sleep 0.05; done) &
{ echo "srun: job 771204 queued and waiting for resources"; echo "srun: job 771204 has been allocated resources"; timeout -s TERM 50 python3 launch.py 4 29623 train_ranker.py --feed '/var/run/feed/feed{rank}'; echo "srun: error: gpu-b07: task 0: Exited with exit code $?"; } > $D/slurm-771204.out 2>&1
