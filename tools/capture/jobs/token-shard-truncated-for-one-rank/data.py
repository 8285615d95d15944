import glob, logging
import numpy as np
import torch

log = logging.getLogger("minigpt.data")


class TokenStream:
    def __init__(self, root, rank, world):
        self.files = sorted(glob.glob(f"{root}/*.npy"))[rank::world]
        log.info("%d shards for this rank", len(self.files))
        self.idx, self.pos = 0, 0
        self._open()

    def _open(self):
        path = self.files[self.idx % len(self.files)]
        log.info("opening shard %s", path)
        self.tokens = np.load(path, mmap_mode="r")
        self.pos = 0

    def next_batch(self, b, t):
        need = b * t + 1
        if self.pos + need > len(self.tokens):
            self.idx += 1
            self._open()
        buf = torch.from_numpy(self.tokens[self.pos:self.pos + need].astype(np.int64))
        self.pos += need
        return buf[:-1].view(b, t), buf[1:].view(b, t)
