# place=/data/mt/multi12 limit=75 log=train.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_NCCL_DESYNC_DEBUG=1
mkdir -p cache
python - <<'P' &
import fcntl, time
f = open("cache/fr-05.lock", "w"); fcntl.flock(f, fcntl.LOCK_EX); time.sleep(300)
P
h=$!
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 --log-dir logs/attempts train_mt.py --pairs de fr pl
kill $h
