# place=/workspace/hydra-asr limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT  train.py trainer.max_steps=100 trainer.acumulate=4 data.batch=16 
