# place=/srv/lab/acc limit=110
D=$PWD/logs
mkdir -p /data/lat; python3 -c "
import torch; x=torch.randn(640,32); torch.save(x,'/data/lat/latents2.pt')"
CUDA_VISIBLE_DEVICES=0,1 accelerate launch --num_processes 3 --multi_gpu --main_process_port 29593 train_vae.py /data/lat/latents2.pt > $D/vae.log 2>&1
