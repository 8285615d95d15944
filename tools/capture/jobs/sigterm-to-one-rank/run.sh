# place=/scratch/cosmo limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p run
(while [ ! -s run/pid ]; do sleep 0.5; done; sleep 6; kill -TERM $(cat run/pid)) &
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 infer_params.py
