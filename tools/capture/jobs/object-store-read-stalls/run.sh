# place=/opt/stream limit=110
export OBJ=127.0.0.1:$((PORT + 2)) TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python objstore.py &
sleep 1
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_stream.py 2>&1
