# place=/opt/data-train limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p m; for r in 0 1 3; do printf "web 0.7\ncode 0.2\nmath 0.1\n" > m/$r.txt; done; printf "web 0.7\ncode 0.3\n" > m/2.txt
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 train_mix.py 
