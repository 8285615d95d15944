# place=/home/user/climate limit=50
torchrun --nproc-per-node=2 --master-port=$PORT train_gcm.py --backend mpi
