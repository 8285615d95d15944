# place=/home/nora/bert-small limit=110
D=$PWD/logs
timeout 80 bash run_local.sh 29641 $D > $D/run_local.out 2>&1
