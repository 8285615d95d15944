# place=/opt/genomics limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
cat > kmer.c <<'C'
int bands(int reads, int width) { volatile int w = width; return reads / w; }
C
gcc -shared -fPIC -O0 -o libkmer.so kmer.c
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 align_train.py 
