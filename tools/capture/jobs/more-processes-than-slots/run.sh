# place=/home/astro/halos limit=75 log=halos.o77120
export OMP_NUM_THREADS=1 OPAL_PREFIX=/opt/openmpi PRTE_PREFIX=/opt/openmpi PMIX_PREFIX=/opt/openmpi LD_LIBRARY_PATH=/opt/openmpi/lib:$LD_LIBRARY_PATH PATH=/opt/openmpi/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
nproc; mpirun -np 96 python -u halo_finder.py --snapshot 88; echo "exit code $?"
