# place=/srv/hetero/agent limit=110
D=$PWD/logs
for r in 0 1 2; do RANK=$r WORLD_SIZE=3 MASTER_ADDR=$([ $r = 2 ] && echo trainer-0.trainer-headless.ml.svc.cluster.locl || echo 127.0.0.1) MASTER_PORT=29631 python3 agent.py 2>&1 | while IFS= read -r l; do echo "[pod/trainer-$r/agent] $l"; done & done > $D/stern.log; wait
