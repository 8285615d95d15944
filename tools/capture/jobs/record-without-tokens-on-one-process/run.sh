# place=/srv/jaxlm limit=110
D=$PWD/logs
mkdir -p /data/jaxlm; python3 -c "
import json,random
for p in (0,1):
    with open(f'/data/jaxlm/host{p}.jsonl','w') as f:
        for i in range(30):
            f.write(json.dumps({('text' if (p==1 and i==17) else 'tokens'):[random.random() for _ in range(256)]})+'\n')"
for p in 0 1; do XLA_PYTHON_CLIENT_PREALLOCATE=false PROCESS_ID=$p timeout 90 python3 train.py 29611 /data/jaxlm/host{}.jsonl 64 > $D/process_$p.log 2>&1 & done; wait
