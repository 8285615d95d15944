# place=/home/ml/tokprep limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=2 HF_HUB_OFFLINE=1
c=cache1/hub/models--acme--sp32k; mkdir -p $c/refs $c/snapshots/8d1f0c2b7e6a4953b1c0aa2f6d0e9b7c5a413f20; echo -n 8d1f0c2b7e6a4953b1c0aa2f6d0e9b7c5a413f20 > $c/refs/main; echo '{"vocab_size": 32000}' > $c/snapshots/8d1f0c2b7e6a4953b1c0aa2f6d0e9b7c5a413f20/tokenizer_config.json
mkdir -p cache2
for r in 0 1; do HF_HOME=$PWD/cache$((r + 1)) NCCL_HOSTID=n$r RANK=$r LOCAL_RANK=$r on gpu-node-0$((r + 1)) python -u pretok.py 2>&1 | pre "gpu-node-0$((r + 1)): " & done; wait
