# place=/home/hpc/halo3d limit=70
mount -t tmpfs -o size=2g tmpfs /dev/shm
export OMP_NUM_THREADS=1 OPAL_PREFIX=/opt/openmpi PRTE_PREFIX=/opt/openmpi PMIX_PREFIX=/opt/openmpi LD_LIBRARY_PATH=/opt/openmpi/lib:$LD_LIBRARY_PATH PATH=/opt/openmpi/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
export LD_LIBRARY_PATH=/opt/nccl-home/lib:$LD_LIBRARY_PATH
nvcc -arch=sm_90 -o halo3d halo3d.cu -I/opt/nccl-home/include -L/opt/nccl-home/lib -lnccl -I/opt/openmpi/include -L/opt/openmpi/lib -lmpi > build.txt 2>&1 || cat build.txt
mpirun --host localhost:2 -np 2 ./halo3d -n 256 -t 400; echo "mpirun: $?"
