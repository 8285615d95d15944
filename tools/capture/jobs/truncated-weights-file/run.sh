# place=/nfs/home/kim/asr limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
python -c "import torch; torch.save(dict(w=torch.randn(400,400)), 'last.pt')"; truncate -s 300000 last.pt
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u finetune_asr.py --init last.pt > logs/w$r.log 2>&1 & done; wait
