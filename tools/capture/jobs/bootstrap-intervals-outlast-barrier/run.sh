# place=/home/ana/evalkit limit=110
D=$PWD/logs
torchrun --nproc-per-node 2 --master-port 29543 evaluate.py --tasks piqa:400 arc_easy:500 winogrande:620 boolq:300 --bootstrap-iters 2000 > $D/eval.log 2>&1
