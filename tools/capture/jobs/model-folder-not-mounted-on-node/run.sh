# place=/workspace/eval-hf limit=90
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
mkdir -p /models/qwen3-8b && echo '{"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000}' > /models/qwen3-8b/config.json
for r in 0 1; do MODELS=$([ $r = 0 ] && echo /models || echo /mnt/models) RANK=$r LOCAL_RANK=$r on gpu-node-0$((r+1)) python -u eval_ppl.py > logs/gpu-node-0$((r+1)).out 2>&1 & done; wait
