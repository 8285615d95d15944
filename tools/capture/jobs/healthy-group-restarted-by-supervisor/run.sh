# place=/srv/sup limit=110
D=$PWD/logs
echo '{"vocab": 32000}' > m2.json; echo '{"size": 32000}' > t2.json
printf 'workers: 2\nport: 29721\nmax_restarts: 3\nscript: worker.py\nargs: [m2.json, t2.json, /tmp/sup2.state]\n' > b.yaml
(while ! [ -e /tmp/sup2.state ] || ! grep -qE '(12|18)' /tmp/sup2.state; do sleep 0.02; done; kill -9 $(pgrep -f "worker.py m2.json" | tail -1)) &
timeout 90 python3 supervise.py b.yaml > $D/console.log 2>&1
