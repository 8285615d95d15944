# place=/scratch/chain/unet3d limit=115
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
for slice in 1 2; do echo "=== slice $slice"; export WORLD_SIZE=2
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u unet3d.py > logs/slice$slice.rank$r.log 2>&1 & p[$r]=$!; done
(until grep -qs "step 100/200" logs/slice$slice.rank0.log; do sleep 0.2; done; [ $slice = 1 ] && echo "slice is over, SIGTERM to all ranks" && kill -TERM ${p[0]} ${p[1]}) & 
for r in 0 1; do wait ${p[$r]}; echo "rank $r exit status $?"; done; [ -f done ] && break; MASTER_PORT=$((MASTER_PORT + 1)); done; ls -1 done last.pt
