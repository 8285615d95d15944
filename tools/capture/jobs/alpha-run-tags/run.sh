# place=/mnt/quant/alpha limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for n in m1 m2 m3; do echo a7-0930 > $n.tag; done
for r in 0 1 2; do TAG_FILE=m$((r+1)).tag RANK=$r LOCAL_RANK=$r python -u backtest.py > logs/alpha.$r.log 2>&1 & done
while ! grep -q "year 2014" logs/alpha.0.log; do sleep 0.3; done; echo a7-0931 > m3.tag
wait
