# place=/nfs/proj/vae limit=70
export OMP_NUM_THREADS=1 WORLD_SIZE=2
mkdir -p sync
for r in 0 1; do RANK=$r python -u train_vae.py --sync file://$PWD/sync/rendezvous --epochs 50 > /dev/null 2>&1 & p[$r]=$!; done; sleep 9; kill -9 ${p[0]} ${p[1]}; wait 2>/dev/null
for r in 0 1; do RANK=$r python -u train_vae.py --sync file://$PWD/sync/rendezvous --epochs 3 > logs/vae_rank$r.log 2>&1 & done; wait
