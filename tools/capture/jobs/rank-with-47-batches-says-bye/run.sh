# place=/srv/asr/conformer limit=110
D=$PWD/logs
mkdir -p /data/asr/part0 /data/asr/part1; python3 -c "
import torch
torch.save(list(torch.randn(30,4,80)),'/data/asr/part0/a.pt'); torch.save(list(torch.randn(22,4,80)),'/data/asr/part0/b.pt'); torch.save(list(torch.randn(30,4,80)),'/data/asr/part1/a.pt'); torch.save(list(torch.randn(17,4,80)),'/data/asr/part1/b.pt')"
torchrun --nproc-per-node 2 --master-port 29661 train.py /data/asr none > $D/log.txt 2>&1
