# place=/srv/lab/acc limit=110
D=$PWD/logs
mkdir -p /data/lat; python3 -c "
import torch; x=torch.randn(640,32); x[18*16+3,7]=float('inf'); x[13*16+2]*=50; torch.save(x,'/data/lat/latents.pt')"
accelerate launch --num_processes 2 --multi_gpu --main_process_port 29591 train_vae.py /data/lat/latents.pt > $D/vae.log 2>&1
