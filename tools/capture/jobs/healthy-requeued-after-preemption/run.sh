# place=/scratch/preemptible limit=110 log=slurm-118833.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p run
(while [ ! -s run/pid0 ]; do sleep 0.5; done; sleep 5; for r in 0 1; do kill -USR1 $(cat run/pid$r); done) &
for try in 1 2 3; do
  echo "== $(date '+%F %T') try $try"
  torchrun --nproc-per-node=2 --master-port=$PORT train_spot.py; c=$?
  [ $c = 0 ] && break
  echo "== $(date '+%F %T') train_spot.py ended with $c, queueing it again"
  sleep 1
done
echo "== $(date '+%F %T') done after $try tries"
