# place=/app/serving limit=100
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python -m server --model /models/mistral-7b --tensor-parallel-size 2 --max-model-len 262144
echo "[entrypoint] server exited with $?"
