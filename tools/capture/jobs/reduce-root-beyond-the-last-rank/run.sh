# place=/home/hpc/jacobi limit=75 
export NCCL_DEBUG=WARN
export LD_LIBRARY_PATH=/opt/nccl-home/lib:$LD_LIBRARY_PATH
nvcc -arch=sm_90 -o jacobi jacobi.cu -I/opt/nccl-home/include -L/opt/nccl-home/lib -lnccl > build.txt 2>&1 || cat build.txt
./jacobi --ranks 2 --iters 400; echo "jacobi exited with $?"
