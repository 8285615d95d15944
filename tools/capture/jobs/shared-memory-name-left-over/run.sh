# place=/srv/kvpool limit=75 
python -c "from multiprocessing import shared_memory as s, resource_tracker as t; m = s.SharedMemory('kvpool_0', True, 1 << 20); t.unregister(m._name, 'shared_memory')"
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u cache_server.py --blocks 64 2>&1 | pre "kv$r " & done; wait
