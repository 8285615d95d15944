# place=/srv/bio/whales limit=75 log=run.log
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p pids
(while [ ! -s pids/0.busy ]; do sleep 0.3; done; sleep 1; kill -9 $(cat pids/0.1)) &
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 whales.py
