# place=/home/petra/finetune limit=110
D=$PWD/logs
mkdir -p /data/chats; python3 -c "
import torch; torch.manual_seed(0); d=torch.randint(0,1000,(300,64)); d[211,40]=1003; torch.save(d,'/data/chats/v2.pt')"
torchrun --nproc-per-node 2 --master-port 29581 run_clm.py /data/chats/v2.pt /tmp/outv2 5e-4 > $D/slurm-99120.out 2> $D/slurm-99120.err
