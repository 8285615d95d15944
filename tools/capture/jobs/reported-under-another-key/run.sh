# place=/data/asr/decode limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in $(seq 0 3); do K=plain; [ $r = 2 ] && K=padded; KEY_STYLE=$K RANK=$r LOCAL_RANK=$r python -u decode_all.py 2>&1 | pre "decode/$r  " & done; wait
