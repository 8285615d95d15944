# place=/home/astro/nbodyml limit=75 
export OMP_NUM_THREADS=1 OPAL_PREFIX=/opt/openmpi PRTE_PREFIX=/opt/openmpi PMIX_PREFIX=/opt/openmpi LD_LIBRARY_PATH=/opt/openmpi/lib:$LD_LIBRARY_PATH PATH=/opt/openmpi/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
(for i in $(seq 80); do sleep 0.25; grep -q "epoch 0 it 12" out.txt 2>/dev/null && break; done; for p in /proc/[0-9]*; do readlink $p/exe | grep -q python && tr "\0" "\n" < $p/environ | grep -q "^OMPI_COMM_WORLD_RANK=1$" && kill -9 ${p#/proc/}; done) &
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
mpirun --host localhost:2 -np 2 -x MASTER_ADDR -x MASTER_PORT python -u emulator.py 2>&1 | tee out.txt; echo "exit ${PIPESTATUS[0]}"
