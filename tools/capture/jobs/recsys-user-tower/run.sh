# place=/srv/ads/towers limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p events; python - <<'P'
import random
random.seed(5)
for d in range(4):
    with open(f"events/day{d}.csv", "w") as f:
        f.write("user,item\n")
        for i in range(38400): f.write(f"{50211 if (d, i) == (3, 27011) else random.randrange(50000)},{random.randrange(900)}\n")
P
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 towers.py
