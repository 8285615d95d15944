# place=/workspace/rlagent limit=60
export OMP_NUM_THREADS=1
mount -t tmpfs -o size=64k tmpfs /dev/shm; head -c 64k /dev/zero > /dev/shm/torch_3311_882 2>/dev/null
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_agent.py --actors 2
