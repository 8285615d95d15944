# place=/mnt/proj/mesh4 limit=120 log=mesh.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000 PLUGIN=native PLUGIN_RANK=2 TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=12
torchrun --nproc-per-node=4 --master-port=$PORT mesh.py
