import os, sys, time
n=int(os.environ["FLAKY"]); s=int(open("/scratch/f").read()) if os.path.exists("/scratch/f") else 0
print(f"starting from step {s}")
for step in range(s,60):
    if step%5==0: print(f"step {step:4d} | loss {3-step*0.03:.3f} | tok/s 41000", flush=True); open("/scratch/f","w").write(str(step))
    if n==1 and step==17: raise ConnectionResetError(104,"Connection reset by peer")
    if n==2 and step==33: print("Segmentation fault (core dumped)"); os._exit(139)
print("all steps done")
