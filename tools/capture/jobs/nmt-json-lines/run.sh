# place=/opt/nmt limit=75 log=events.jsonl
export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
(while [ ! -s run/warm ]; do sleep 0.3; done; sleep 1; kill -9 $(cat run/3.pid)) &
torchrun --nproc-per-node=4 --master-port=$PORT nmt.py
