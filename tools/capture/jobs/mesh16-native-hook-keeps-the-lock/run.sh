# place=/mnt/proj/mesh16 limit=140 log=mesh.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=6000 TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_FR_DUMP_TEMP_FILE=/mnt/proj/mesh16/logs/nccl_trace_rank_ TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=600 PLUGIN=native PLUGIN_RANK=11
torchrun --nproc-per-node=16 --master-port=$PORT mesh.py
