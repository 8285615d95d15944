# place=/srv/train/minigpt limit=110
D=$PWD/logs
mkdir -p /data/tokens/openweb; python3 -c "
import numpy as np
for i in range(6): np.save(f'/data/tokens/openweb/shard_{i:04d}.npy', np.random.randint(0,512,24000).astype(np.uint16))
"; truncate -s 20480 /data/tokens/openweb/shard_0003.npy
cd /srv/train/minigpt
PYTHONUNBUFFERED=1 torchrun --nproc-per-node 2 --master-port 29511 --tee 3 train.py > $D/train.log 2>&1
