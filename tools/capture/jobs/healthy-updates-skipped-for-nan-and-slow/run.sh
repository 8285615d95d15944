# place=/srv/align/dpo limit=110
D=$PWD/logs
printf 'd: 1024\nvocab: 32000\nseq: [512, 512, 512, 512, 512, 512, 512, 512, 16384, 512, 512, 512, 32768, 512, 512]\noverflow_steps: [3, 9, 10]\n' > harmless.yaml
timeout 100 torchrun --nproc-per-node $NG --master-port 29813 --tee 3 dpo.py harmless.yaml > $D/dpo.log 2>&1
