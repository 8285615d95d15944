import ctypes
import numpy as np
libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
BYTES = 96 * 1600 * 4 * 4

class Ring:
    """Frames in pages of their own; at least the ``depth`` newest stay."""
    def __init__(self, depth): self.depth, self.pages = depth, []
    def push(self, n):
        at = libc.mmap(None, BYTES, 3, 0x22, -1, 0); frame = np.frombuffer((ctypes.c_float * (BYTES // 4)).from_address(at), np.float32)
        frame[:] = np.random.default_rng(n).random(1, np.float32); self.pages.append(at)
        if len(self.pages) > 2 * self.depth:
            for old in self.pages[:-self.depth]: libc.munmap(old, BYTES)
            del self.pages[:-self.depth]
        return frame
