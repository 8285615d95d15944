# place=/fsx/sdepth limit=75
export OMP_NUM_THREADS=1
export TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/fr_rank_ TORCH_FR_DUMP_TEMP_FILE=logs/fr_rank_
mkdir -p rng; for r in 0 1; do echo 1701 > rng/$r; done; echo 2203 > rng/2; echo 1701 > rng/3
C="--nnodes=2 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT --tee 3"
on h200-a1 torchrun $C --node-rank=0 pretrain.py > logs/h200-a1.log 2>&1 &
on h200-a2 torchrun $C --node-rank=1 pretrain.py > logs/h200-a2.log 2>&1 & wait
