# place=/work/bm1234/emu limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_NCCL_DESYNC_DEBUG=1
C="--nnodes=2 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT"
SAVE_EVERY=600 on l40231 torchrun $C --node-rank=0 emu.py > logs/l40231.out 2> logs/l40231.err &
SAVE_EVERY=6 on l40232 torchrun $C --node-rank=1 emu.py > logs/l40232.out 2> logs/l40232.err & wait
