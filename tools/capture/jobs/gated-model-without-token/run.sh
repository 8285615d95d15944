# place=/workspace/chatft limit=60
export OMP_NUM_THREADS=1 HF_ENDPOINT=http://127.0.0.1:$((PORT+3)) HF_HOME=$PWD/hf HF_HUB_DISABLE_TELEMETRY=1
(cd / && python /workspace/chatft/proxy.py $((PORT+3))) >/dev/null 2>&1 & sleep 2
torchrun --nproc-per-node=2 --master-port=$PORT sft.py --model meta-llama/Llama-3.1-8B
kill %1
