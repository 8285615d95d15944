# place=/home/u2207/instruct limit=70
mkdir -p node_a/tokenlib node_b/tokenlib
cat > node_a/tokenlib/__init__.py <<'E'
__version__ = "0.6.0"
class BatchEncoder:
    def __init__(self, vocab): self.vocab = vocab
    def __call__(self, texts): return [[ord(c) % self.vocab for c in t] for t in texts]
E
cat > node_b/tokenlib/__init__.py <<'E'
__version__ = "0.4.1"
class Encoder:
    def __init__(self, vocab): self.vocab = vocab
    def encode(self, t): return [ord(c) % self.vocab for c in t]
E
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
for r in 0 1 2 3; do
  h=gpu-node-0$((r + 1)); lib=node_a; [ $r = 2 ] && lib=node_b
  PYTHONPATH=$PYTHONPATH:$PWD/$lib RANK=$r LOCAL_RANK=$((r % 2)) NCCL_HOSTID=n$r on $h python finetune.py 2>&1 | pre "$h: " &
done
wait; sleep 1
