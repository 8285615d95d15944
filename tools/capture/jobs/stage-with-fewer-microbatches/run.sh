# place=/srv/pp limit=110
D=$PWD/logs
mkdir -p /srv/pp/conf/mb8; python3 - <<'P'
import json
for s in range(4): json.dump(dict(d_in=64,d_recv=64,d_ff=128,d_out=64,mb=8,n_micro=6 if s==1 else 8),open(f'/srv/pp/conf/mb8/stage{s}.json','w'))
P
export MASTER_ADDR=127.0.0.1 MASTER_PORT=29533 WORLD_SIZE=4
for r in 0 1 2 3; do RANK=$r python3 stage_runner.py conf/mb8 2>&1 | sed -u "s/^/pipeline-stage-$r | /" & done > $D/compose.log; wait
