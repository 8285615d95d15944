# place=/srv/train/megalite limit=110
D=$PWD/logs
mkdir -p t1; for r in 0 1 2 3; do printf "tensor_parallel: $([ $r = 3 ] && echo 4 || echo 2)\npipeline_parallel: 1\n" > t1/topology.$r.yaml; done
timeout 100 torchrun --nproc-per-node 4 --master-port 29655 --tee 3 pretrain_gpt.py t1 > $D/gpt.log 2>&1
