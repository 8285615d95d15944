# place=/home/mk/pp4 limit=150 log=pipeline.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 REFRESH=23 INDEX=/home/mk/pp4/index/words.idx
torchrun --nproc-per-node=4 --master-port=$PORT stages.py
