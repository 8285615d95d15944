# place=/workspace/detectron2/projects limit=80
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python train_net.py --num-gpus 2 --config-file configs/retinanet_R_50_FPN_1x.yaml
