# place=/data/featurize limit=75 
mkdir -p out; mount -t tmpfs -o size=512m,nr_inodes=2600 tmpfs out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 featurize.py --out out ; df -h out; df -i out
