# place=/srv/serve/tinyserve limit=110
D=$PWD/logs
timeout 80 python3 engine.py --util 0.3 --max-idle 600 8 2>&1 | while IFS= read -r l; do echo "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ) stderr F $l"; done > $D/tinyserve-7d9c6b5f4-xk2lp.log
