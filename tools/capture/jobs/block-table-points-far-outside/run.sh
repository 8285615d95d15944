# place=/opt/sparse/attn limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
dmesg | wc -l > .n
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 sparse_train.py
dmesg -T | tail -n +$(( $(cat .n) + 1 )) > logs/dmesg.txt; nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT > logs/nvidia-smi-q.txt
