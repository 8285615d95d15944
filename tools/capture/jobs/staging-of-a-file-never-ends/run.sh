# place=/home/audio/vox limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p src; for i in 0 1 2 3 4 5; do head -c 100000 /dev/urandom > src/spk$i.wav; done; rm src/spk5.wav; mkfifo src/spk5.wav
torchrun --nproc-per-node=6 --master-port=$PORT --tee 3 verify.py
