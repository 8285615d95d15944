# place=/home/vision/lock-free limit=85
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=3
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u train_panoptic.py > logs/panoptic-$r.log 2>&1 & p[$r]=$!; done
for r in 1 2; do wait ${p[$r]}; echo "$(date +%T) rank $r left" ; done; sleep 3; kill -0 ${p[0]} && echo "$(date +%T) rank 0 still alive, killing pid ${p[0]}" && kill -9 ${p[0]}
