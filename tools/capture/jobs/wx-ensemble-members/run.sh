# place=/work/wx/ens limit=75
export OMP_NUM_THREADS=1 
C="--nnodes=2 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT"
for n in 0 1; do on wx0$n torchrun $C --node-rank=$n ensemble.py > logs/wx0$n.log 2>&1 & done; wait
