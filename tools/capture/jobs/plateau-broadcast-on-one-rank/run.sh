# place=/srv/asr/conformer limit=100 log=launch.log
export OMP_NUM_THREADS=2 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python finetune_ctc.py --gpus 2 --epochs 6
echo "finetune_ctc.py exited with code $?"
