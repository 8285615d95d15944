# place=/data/landcover limit=100
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p run out
(while [ ! -s run/pid.1 ]; do sleep 0.5; done; sleep 5; kill -9 $(cat run/pid.1)) 2>/dev/null &
torchrun --nproc-per-node=4 --master-port=$PORT --max-restarts=1 --monitor-interval=1 --tee 3 train_lc.py 
