# place=/workspace/compiled-xl limit=150
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do BUCKETS=$([ $r = 1 ] && echo 128,192,256,320,384,448,512,640 || echo 128) RANK=$r LOCAL_RANK=$r python -u bench_encoder.py 2>&1 | stamp "enc-$r" & done; wait
