# place=/workspace/pretrain limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p run
(for a in 0 1; do while [ ! -s run/pid.$a ]; do sleep 0.5; done; sleep 5; kill -9 $(cat run/pid.$a); done) 2>/dev/null &
torchrun --nproc-per-node=2 --master-port=$PORT --max-restarts=1 pretrain.py 2>&1 | stamp "stderr F"
