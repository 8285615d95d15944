# place=/app/textprep limit=75 log=container.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=3
mkdir -p corpus; python -c "
for k in range(12):
    open(f'corpus/{k:03d}.txt', 'wb').write(b'some plain text\\n' * 500 + (b'caf\xe9 latin\\n' if k == 7 else b''))
"
for r in 0 1 2; do RANK=$r python -u vocab_job.py corpus & done; wait
