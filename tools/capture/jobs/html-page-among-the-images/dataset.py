import glob, logging, os
import numpy as np, torch
from PIL import Image
from torch.utils.data import Dataset

logger = logging.getLogger("webcls.dataset")


class WebImages(Dataset):
    def __init__(self, root, strict=True):
        self.files, self.strict = sorted(glob.glob(os.path.join(root, "*.jpg"))), strict
        self.n_bad = 0

    def __len__(self):
        return len(self.files)

    def _decode(self, path):
        with Image.open(path) as im:
            return np.asarray(im.convert("RGB").resize((32, 32)), dtype=np.float32) / 255.0

    def __getitem__(self, i):
        try:
            arr = self._decode(self.files[i])
        except Exception as e:
            if self.strict:
                raise
            self.n_bad += 1
            logger.error("failed to decode %s: %s: %s -- using a blank image (%d bad so far in this worker)", self.files[i], type(e).__name__, e, self.n_bad)
            arr = np.zeros((32, 32, 3), np.float32)
        return torch.from_numpy(arr).permute(2, 0, 1), int(os.path.basename(self.files[i])[0])
