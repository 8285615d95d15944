# place=/home/tomas/segm limit=110
D=$PWD/logs
mkdir -p /data/segm; python3 -c "
import torch; g=lambda n:torch.randint(0,5,(n,16,16))
y=g(32); y[21,3,3]=5
torch.save(dict(train_x=torch.randn(64,3,16,16),train_y=g(64),val_x=torch.randn(32,3,16,16),val_y=y),'/data/segm/city.pt')"
MASTER_PORT=29601 python3 train.py /data/segm/city.pt a > $D/nohup.out 2>&1
