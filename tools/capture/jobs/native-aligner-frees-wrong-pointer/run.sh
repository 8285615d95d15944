# place=/workspace/speech limit=60
torchrun --nproc-per-node=2 --master-port=$PORT --log-dir tl -r 3 train_tts_aligner.py
mkdir -p logs; for r in 0 1; do cat tl/*/attempt_0/$r/stdout.log tl/*/attempt_0/$r/stderr.log > logs/rank_$r.log; done
