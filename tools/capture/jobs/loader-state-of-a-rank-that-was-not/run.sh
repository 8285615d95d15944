# place=/workspace/dcp-resume limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python - 2>/dev/null <<'P'
import torch, torch.distributed.checkpoint as dcp
dcp.save({"net": {"weight": torch.randn(512, 512), "bias": torch.zeros(512)}, "loader": {f"rank{r}": {"epoch": torch.tensor(1), "offset": torch.tensor(512 * r)} for r in range(3)}}, checkpoint_id="step-8000")
P
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 resume_lm.py --from step-8000 
