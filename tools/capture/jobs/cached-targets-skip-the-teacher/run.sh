# place=/workspace/distill limit=105
export TORCH_FR_BUFFER_SIZE=1000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_FR_DUMP_TEMP_FILE=$PWD/logs/fr_dump_ TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 distill.py > logs/job.log 2>&1
