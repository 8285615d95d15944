# place=/home/anna/inpaint limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p runs/exp12; touch runs/exp12/last.ckpt; mkfifo tty; (exec 3<> tty; torchrun --nproc-per-node=4 --master-port=$PORT inpaint.py --name exp12 <&3)
