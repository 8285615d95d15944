# place=/srv/rank/ce limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_DISTRIBUTED_DEBUG=DETAIL
mkdir -p conf; echo '{"warm_steps": 30, "lr": 0.001}' > conf/base.json; echo '{"warm_steps": 60}' > conf/host-w2.json
torchrun --nproc-per-node=3 --master-port=$PORT --log-dir logs --redirects 3 ce.py
