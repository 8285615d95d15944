# place=/home/kpark/mt5 limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
cat > lex.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int segment(int line, int version) {
    if (line == 1510) { fprintf(stderr, "lexseg: fatal: user dictionary entry 1510: format 3 expected, got %d\n", version); exit(4); }
    return line % 7 + 1;
}
C
gcc -shared -fPIC -O1 -o liblexseg.so lex.c
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 train_mt.py 
