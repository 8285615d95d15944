# place=/workspace/vilt limit=60
export CUDA_VISIBLE_DEVICES=0,1
python -m torch.distributed.run --standalone --nproc_per_node=2 pretrain.py
