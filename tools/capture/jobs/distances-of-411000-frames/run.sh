# place=/workspace/deepcluster limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
nvidia-smi > logs/nvidia-smi.before.txt
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --tee 2 --log-dir logs/torchelastic cluster_train.py --epochs 3
nvidia-smi --query-gpu=index,name,uuid,memory.total,memory.used,utilization.gpu,ecc.errors.uncorrected.volatile.total --format=csv > logs/nvidia-smi.after.csv
