# place=/workspace/llmlib limit=50
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 launch.py
