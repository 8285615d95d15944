# place=/scratch/specfem limit=40 log=specfem-4471.out
mount -t tmpfs -o size=2g tmpfs /dev/shm
export OMP_NUM_THREADS=1 OPAL_PREFIX=/opt/openmpi PRTE_PREFIX=/opt/openmpi PMIX_PREFIX=/opt/openmpi LD_LIBRARY_PATH=/opt/openmpi/lib:$LD_LIBRARY_PATH PATH=/opt/openmpi/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
mpirun --host localhost:2 -np 2 /opt/specfem/bin/xspecfem3D; echo "mpirun returned $?"
