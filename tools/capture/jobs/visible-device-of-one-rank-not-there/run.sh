# place=/srv/lab/cvrun limit=110
D=$PWD/logs
export MASTER_ADDR=127.0.0.1 MASTER_PORT=29691 WORLD_SIZE=2
for r in 0 1; do RANK=$r CUDA_VISIBLE_DEVICES=$([ $r = 1 ] && echo 8 || echo 0) timeout 60 python3 main.py > $D/proc-$r.log 2>&1 & done; wait
