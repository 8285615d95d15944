import cv2, numpy as np
for r in range(4):
    for i in range(30): cv2.imwrite(f"frames/cam{r}_{i:04d}.jpg", np.full((48, 96, 3), i * 8 % 255, np.uint8))
open("frames/cam3_0017.jpg", "wb").close()
