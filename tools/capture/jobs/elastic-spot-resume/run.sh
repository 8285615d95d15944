# place=/opt/spot/trainer limit=110 log=agent.log
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=2000 TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
mkdir -p state
(while [ ! -s state/pid2 ] || [ ! -s state/last.pt ]; do sleep 0.2; done; sleep 0.3; kill -9 $(cat state/pid2)) &
torchrun --standalone --nproc-per-node=3 --max-restarts=2 --monitor-interval=0.5 --tee 3 spot.py
echo "agent: exit code $?"
