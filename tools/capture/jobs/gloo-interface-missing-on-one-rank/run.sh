# place=/srv/hetero/agent limit=110
D=$PWD/logs
for r in 0 1 2; do (export RANK=$r WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=29633 GLOO_SOCKET_IFNAME=$([ $r = 1 ] && echo bond0 || echo lo); python3 agent.py > $D/trainer-$r.log 2>&1) & done; wait
