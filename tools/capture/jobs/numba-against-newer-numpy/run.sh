# place=/home/ml/spikes limit=90
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1; do RANK=$r python snn_train.py 2>&1 | pre "[1,$r]<stderr>:" & done
wait; sleep 1
