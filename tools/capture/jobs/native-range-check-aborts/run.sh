# place=/home/bio/aligner limit=75 
g++ -O1 -shared -fPIC -o libwindow.so window.cc
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u encode_reads.py 2>&1 | stamp "encode-$r" & done; wait
