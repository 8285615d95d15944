# place=/srv/serve/tinyserve limit=110
D=$PWD/logs
CUDA_VISIBLE_DEVICES=1 python3 -c "
import torch,time
x=[torch.empty(1<<30,dtype=torch.uint8,device='cuda') for _ in range(60)]; time.sleep(45)" & 
H=$!; sleep 14; timeout 60 python3 engine.py --util 0.4 > $D/serve.log 2>&1; kill $H
