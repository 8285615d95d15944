# place=/scratch/wmt limit=80 log=slurm-7731902.out
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
mkdir -p run snapshot
(while [ ! -s run/pid ]; do sleep 0.5; done; sleep 6; kill -USR1 $(cat run/pid)) &
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u nmt_train.py --resume auto 2>&1 | pre "$r: " & done; wait
