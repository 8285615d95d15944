# place=/mnt/proj/mesh4 limit=120 log=mesh.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000 PLUGIN=drain PLUGIN_RANK=1 TORCH_LOGS=+distributed TORCH_CPP_LOG_LEVEL=INFO
torchrun --nproc-per-node=4 --master-port=$PORT mesh.py
