# place=/opt/cfd/surrogate limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
python -u seats.py $((PORT + 5)) 3 > logs/seatd.log 2>&1 & s=$!; sleep 1
export WORLD_SIZE=4 SEATD=127.0.0.1:$((PORT + 5))
for r in 0 1 2 3; do (sleep 0.$((r * 2)); RANK=$r LOCAL_RANK=$r python -u surrogate.py > logs/surrogate.$r.log 2>&1; rc=$?; echo "$(date +%T) rank $r: exit status $rc" >> logs/exit.log) & done; sleep 1; wait $(jobs -p | grep -v "^$s$"); kill $s
