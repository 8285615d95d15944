# place=/workspace/sparseattn limit=80
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT
torchrun --nproc-per-node=2 --master-port=$PORT -r 3 --log-dir tl blocksparse.py
for r in 0 1; do mkdir -p logs/$r; cp tl/*/attempt_0/$r/*.log logs/$r/; done
