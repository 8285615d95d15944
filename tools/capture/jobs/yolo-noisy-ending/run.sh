# place=/home/cam/yolo limit=75
export OMP_NUM_THREADS=1 NCCL_DEBUG=WARN
torchrun --nproc-per-node=2 --master-port=$PORT --log-dir logs --redirects 3 --tee 3 yolo.py
echo "torchrun ended with $?"
