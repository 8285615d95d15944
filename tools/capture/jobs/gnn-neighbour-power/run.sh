# place=/home/chem/gnn limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p chassis/a chassis/b
mkfifo chassis/a/power chassis/b/power
(for i in $(seq 8); do echo 412 > chassis/a/power; sleep 0.2; done) & w1=$!
(echo 398 > chassis/b/power) & w2=$!
C="--nnodes=2 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT --tee 3"
NODE_DIR=chassis/a on c3-a torchrun $C --node-rank=0 gnn.py > logs/c3-a.log 2>&1 & a=$!
NODE_DIR=chassis/b on c3-b torchrun $C --node-rank=1 gnn.py > logs/c3-b.log 2>&1 & b=$!
wait $a $b; kill $w1 $w2 2>/dev/null
