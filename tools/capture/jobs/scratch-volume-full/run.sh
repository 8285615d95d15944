# place=/workspace/retrieval limit=80
mkdir -p nvme; mount -t tmpfs -o size=24m tmpfs nvme; head -c 15m /dev/zero > nvme/old_cache.bin
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --log-dir tlogs cache_and_train.py; rc=$?
echo "torchrun finished with exit code $rc"
for d in tlogs/*/attempt_0/*; do mkdir -p logs/rank_$(basename $d); cp $d/*.log logs/rank_$(basename $d)/; done
