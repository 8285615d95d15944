# place=/workspace/hf-resume limit=80
export HF_HUB_OFFLINE=1
torchrun --nproc-per-node=2 --master-port=$PORT run_mlm.py --resume out/checkpoint-500
