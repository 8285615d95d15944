# place=/srv/moe/dispatch limit=110
D=$PWD/logs
torchrun --nproc-per-node 2 --master-port 29673 bench_moe.py tune > $D/bench.log 2>&1
