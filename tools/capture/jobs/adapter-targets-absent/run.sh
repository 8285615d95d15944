# place=/workspace/peft-run limit=80
export HF_HUB_OFFLINE=1
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 finetune_lora.py --target q_proj v_proj
