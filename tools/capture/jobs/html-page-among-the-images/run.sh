# place=/srv/vision/webcls limit=110
D=$PWD/logs
mkdir -p /data/webcls/train; python3 -c "
from PIL import Image; import numpy as np
for i in range(240): Image.fromarray(np.random.randint(0,255,(48,48,3),dtype=np.uint8)).save(f'/data/webcls/train/{i%10}_{i:06d}.jpg')
import glob
f=sorted(glob.glob('/data/webcls/train/*.jpg'))
open(f[131],'wb').write(b'<html><head><title>403 Forbidden</title></head></html>')
"
torchrun --nproc-per-node 2 --master-port 29571 train.py --root /data/webcls/train > $D/train.out 2>&1
