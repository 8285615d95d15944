# place=/opt/longctx limit=80
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=WARN
torchrun --nproc-per-node=2 --master-port=$PORT --log-dir tl --redirects 3 ring_attn.py; echo "rc=$?"
for r in 0 1; do cp tl/*/attempt_0/$r/stderr.log logs/rank$r.err; cp tl/*/attempt_0/$r/stdout.log logs/rank$r.out; done
