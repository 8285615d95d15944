# place=/opt/ml/vision limit=70
torchrun --nproc-per-node=3 --master-port=$PORT fetch_and_train.py --dataset flowers102 2>&1 | while IFS= read -r l; do echo "$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ) $l"; done
