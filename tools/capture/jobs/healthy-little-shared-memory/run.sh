# place=/scratch/lattice limit=40
mount -t tmpfs -o size=6m tmpfs /dev/shm
export OMP_NUM_THREADS=1 OPAL_PREFIX=/opt/openmpi PRTE_PREFIX=/opt/openmpi PMIX_PREFIX=/opt/openmpi LD_LIBRARY_PATH=/opt/openmpi/lib:$LD_LIBRARY_PATH PATH=/opt/openmpi/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
mpirun --oversubscribe --host localhost:4 -np 4 python -u -m mpi4py qcd.py; echo "mpirun: $?"
