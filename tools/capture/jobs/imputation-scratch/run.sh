# place=/home/stat/impute limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p sa sb; mount -t tmpfs -o size=900m tmpfs sa; mount -t tmpfs -o size=160m tmpfs sb
C="--nnodes=2 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT --tee 3"
SCRATCH=sa on node-a torchrun $C --node-rank=0 impute.py > logs/node-a.log 2>&1 &
SCRATCH=sb on node-b torchrun $C --node-rank=1 impute.py > logs/node-b.log 2>&1 & wait
