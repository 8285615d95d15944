# place=/home/mkeller/fsdp2-pretrain limit=110
D=$PWD/logs
cd /home/mkeller/fsdp2-pretrain
echo '{"d":256,"batch":4,"steps":30,"mem_fraction":0.5,"timeout":12,"eval_every":10,"buckets":[[128,256]]}' > base.json
PYTHONUNBUFFERED=1 torchrun --nproc-per-node $NG --master-port 29521 --log-dir /tmp/tr_$$ -r 3 pretrain.py base.json > $D/launch.log 2>&1
for r in $(seq 0 $((NG-1))); do cat /tmp/tr_$$/*/attempt_0/$r/stdout.log > $D/rank$r.stdout.log;  cat /tmp/tr_$$/*/attempt_0/$r/stderr.log > $D/rank$r.stderr.log; done
