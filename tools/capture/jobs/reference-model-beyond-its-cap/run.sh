# place=/srv/align/dpo limit=110
D=$PWD/logs
printf 'd: 1024\nvocab: 128000\nmem_fraction: 0.03\nseq: [512, 512, 1024, 1024, 1024, 4096, 4096, 8192]\n' > helpful.yaml
timeout 100 torchrun --nproc-per-node $NG --master-port 29811 dpo.py helpful.yaml > $D/dpo.log 2>&1
