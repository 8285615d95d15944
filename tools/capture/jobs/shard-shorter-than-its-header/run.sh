# place=/srv/llm limit=75 log=launcher.log
mkdir -p weights; python -c "
import torch
from safetensors.torch import save_file
for i in range(4): save_file({f'layers.{k}.w': torch.randn(256, 256) for k in range(i * 4, i * 4 + 4)}, f'weights/model-0000{i + 1}-of-00004.safetensors')
"; truncate -s 700000 weights/model-00003-of-00004.safetensors
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --log-dir tl serve_tp.py --weights weights --port 8000 ; for r in 0 1 2 3; do cat tl/*/attempt_0/$r/std*.log > logs/tp$r.log; done
