# place=/mnt/work/bloomish limit=170 log=resume-2231.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
deepspeed --num_gpus 2 --master_port $PORT train.py --steps 6 --save ckpt > first.txt 2>&1
f=$(ls ckpt/global_step6/*zero_pp_rank_1*optim_states.pt); truncate -s $(( $(stat -c %s $f) / 3 )) $f; rm -f first.txt
deepspeed --num_gpus 2 --master_port $((PORT+1)) train.py --steps 40 --save ckpt --resume
echo "job ended with $?"
