# place=/srv/sweep limit=80
mkdir -p db; mount -t tmpfs -o size=200k tmpfs db
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 objective.py --study ctr-2026
