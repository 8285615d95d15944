import h5py, numpy as np, os
os.makedirs("era5", exist_ok=True)
for y in range(1979, 1983):
    with h5py.File(f"era5/{y}.h5", "w") as f:
        f["fields"] = np.zeros((60, 4, 32, 64), np.float32)
size = os.path.getsize("era5/1982.h5")
os.truncate("era5/1982.h5", size - 700_000)
