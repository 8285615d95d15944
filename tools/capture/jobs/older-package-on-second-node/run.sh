# place=/opt/llm limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for v in a b; do mkdir -p env-$v/flashkit; done
printf '__version__ = "2.4.1"\ndef apply_rotary(x): return x\n' > env-a/flashkit/__init__.py
printf '__version__ = "0.9.3"\n' > env-b/flashkit/__init__.py
PYTHONPATH=env-a:$PYTHONPATH RANK=0 python -u sft.py > logs/node-a.log 2>&1 &
PYTHONPATH=env-b:$PYTHONPATH RANK=1 python -u sft.py > logs/node-b.log 2>&1 & wait
