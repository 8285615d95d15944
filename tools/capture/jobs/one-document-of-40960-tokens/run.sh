# place=/workspace/longsum limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
deepspeed --num_gpus 2 --master_port $PORT finetune_led.py --share 0.04 2>&1 | tee train.log; echo "exit ${PIPESTATUS[0]}"
