# place=/data/ctr limit=100
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=3
cat > supervise.sh <<'S'
#!/bin/bash
# keeps worker $1 alive
for try in 1 2 3; do
  echo "$(date '+%F %T') supervise: starting worker $1 (try $try)"
  RANK=$1 python -u train_ctr.py data/part-$1.rec && { echo "$(date '+%F %T') supervise: worker $1 finished"; exit 0; }
  echo "$(date '+%F %T') supervise: worker $1 exited with $?"
  sleep 2
done
echo "$(date '+%F %T') supervise: giving up on worker $1"
exit 1
S
mkdir -p data; python - <<'P'
import struct, random
for r in range(3):
    b = b"".join(struct.pack("<IIQ", i, i % 97, random.getrandbits(60)) for i in range(64 * 200))
    open(f"data/part-{r}.rec", "wb").write(b if r != 2 else b[:16 * 64 * 60 + 7])
P
for r in 0 1 2; do bash supervise.sh $r > logs/worker-$r.log 2>&1 & done; wait
