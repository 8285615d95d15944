# place=/srv/lm/tpserve limit=110
D=$PWD/logs
mkdir -p /models/orca-8h; echo '{"hidden_size": 512, "num_attention_heads": 8}' > /models/orca-8h/config.json; python3 -c "
import torch
n=$NG
for r in range(n): torch.save({'q': torch.zeros(512//n if r!=1 else 512, 512)}, f'/models/orca-8h/adapter.tp{r}.pt')"
timeout 80 python3 worker.py /models/orca-8h $NG 29823 > $D/server.log 2>&1
