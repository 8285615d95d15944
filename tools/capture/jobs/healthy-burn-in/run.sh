# place=/opt/burnin limit=200 log=burnin-gpu-node-01.log
export OMP_NUM_THREADS=1 OPAL_PREFIX=/opt/openmpi PRTE_PREFIX=/opt/openmpi PMIX_PREFIX=/opt/openmpi LD_LIBRARY_PATH=/opt/openmpi/lib:$LD_LIBRARY_PATH PATH=/opt/openmpi/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
export NCCL_DEBUG=INFO NCCL_IGNORE_CPU_AFFINITY=1
until [ -f $NCCLTESTS/ok ]; do sleep 1; done
$NCCLTESTS/all_reduce_perf -b 8 -e 256M -f 4 -g 2 -w 2 -n 5; echo "all_reduce_perf: $?"
unset NCCL_DEBUG; $NCCLTESTS/sendrecv_perf -b 1M -e 64M -f 4 -g 2 -w 1 -n 5; echo "sendrecv_perf: $?"
