# place=/opt/juglans limit=80 log=pdsh.out
export OMP_NUM_THREADS=1
for n in 0 1; do on c10$n torchrun --nnodes=2 --node-rank=$n --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT --tee 3 --log-dir tr$n juglans.py 2>&1 | pre "c10$n: " & done; wait
