# place=/models/serve limit=60
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=1
python make_weights.py && python -m tp_server --model-path /models/serve/qwen-14b --tp 4
echo "exit status $?"
