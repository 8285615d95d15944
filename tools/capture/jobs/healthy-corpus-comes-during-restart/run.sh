# place=/workspace/elastic-lm limit=100
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p /mnt/corpus; python -c "import torch; torch.save(torch.randint(0, 512, (3, 20000)), '/mnt/corpus/staging.pt')"
(until grep -rqs FileNotFoundError logs; do sleep 0.2; done; mv /mnt/corpus/staging.pt /mnt/corpus/tokens.pt) &
torchrun --standalone --nproc-per-node=3 --max-restarts=5 --monitor-interval=1 --log-dir logs/elastic --redirects 3 --tee 3 lm_elastic.py; echo "exit code $?"
