# place=/opt/megalite limit=80 log=slurm-50012.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in 0 1 2 3; do MESH_ORDER=$([ $r = 2 ] && echo tp,dp || echo dp,tp) RANK=$r LOCAL_RANK=$r python -u pretrain.py 2>&1 | pre "$r: " & done; wait
