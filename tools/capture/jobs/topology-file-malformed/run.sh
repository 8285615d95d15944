# place=/workspace/hpcx limit=75 
cat > site_topo.xml <<'E'
<system version="1">
  <cpu numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:00:1e.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/
  </cpu>
</system>
E
export NCCL_DEBUG=WARN NCCL_TOPO_FILE=$PWD/site_topo.xml
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 bench_gemm_ar.py 
