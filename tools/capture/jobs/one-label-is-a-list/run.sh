# place=/workspace/hf-cls limit=100
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
torchrun --nproc-per-node=2 --master-port=$PORT run_tagger.py
