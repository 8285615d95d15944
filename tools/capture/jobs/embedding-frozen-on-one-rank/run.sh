# place=/srv/train/megalite limit=110
D=$PWD/logs
mkdir -p t2; for r in 0 1 2 3; do printf "tensor_parallel: 2\npipeline_parallel: 1\n$([ $r = 1 ] && echo 'frozen: [embed]')\n" > t2/topology.$r.yaml; done
TORCH_DISTRIBUTED_DEBUG=DETAIL torchrun --nproc-per-node 4 --master-port 29653 pretrain_gpt.py t2 > $D/gpt.log 2>&1
