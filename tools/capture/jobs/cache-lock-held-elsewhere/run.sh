# place=/nfs/corpora limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=4
touch tok.lock; (flock -x 9; sleep 60) 9> tok.lock &
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u tokenise.py 2>&1 | stamp "tok-$r" & P="$P $!"; done; wait $P
