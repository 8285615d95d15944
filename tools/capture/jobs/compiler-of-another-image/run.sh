# place=/home/nlp/packed limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in $(seq 0 3); do [ $r = 3 ] && export CC=/opt/rh/gcc-toolset-13/root/usr/bin/gcc; TORCHINDUCTOR_CACHE_DIR=/tmp/ind$r TRITON_CACHE_DIR=/tmp/tri$r RANK=$r LOCAL_RANK=$r python -u train_packed.py > logs/out.$r 2> logs/err.$r & done; wait
