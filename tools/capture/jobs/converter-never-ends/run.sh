# place=/data/podcasts limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
cat > /usr/local/bin/sph2wav.$$ <<'P'
#!/bin/bash
[ "$1" = part-2-31.sph ] && exec sleep 1000
echo ok
P
mkdir -p tools; mv /usr/local/bin/sph2wav.$$ tools/sph2wav; chmod +x tools/sph2wav
export WORLD_SIZE=4
for r in $(seq 0 3); do  RANK=$r LOCAL_RANK=$r python -u train_asr_ctc.py > logs/asr-$r.log 2>&1 & done; wait
