# place=/shared/exp limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
printf 'data:\n  root: /data/coco\n  workers: 8\noptim:\n  lr: 1.0e-4\n' > conf_a.yaml
printf 'data:\n  root: /data/coco\n  workers: 8\noptim:\n\tlr: 1.0e-4\n' > conf_b.yaml
for r in 0 1 2; do c=conf_a.yaml; [ $r = 2 ] && c=conf_b.yaml; RANK=$r python -u train_detr.py --config $c 2>&1 | pre "$r: " & done; wait
