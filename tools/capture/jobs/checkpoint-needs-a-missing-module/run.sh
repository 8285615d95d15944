# place=/opt/dlrm2 limit=75 
mkdir -p old/trainkit && cat > old/trainkit/settings.py <<'E'
from dataclasses import dataclass
@dataclass
class Settings: lr: float = 0.1; dim: int = 16
E
touch old/trainkit/__init__.py; (cd old; PYTHONPATH=. python -c "
import torch; from trainkit.settings import Settings
torch.save({'model': torch.nn.Linear(16, 16).state_dict(), 'cfg': Settings(), 'step': 900}, '../last.ckpt')"); rm -rf old
export OMP_NUM_THREADS=1 PORT; python -u continue_training.py last.ckpt
