import random, sys, traceback
random.seed(int(sys.argv[1])); allbad=len(sys.argv)>2; ok=0
for t in range(8):
    lr=10**-random.uniform(2,5); print(f"[trial {t}] lr={lr:.2e} wd=0.1 started")
    try:
        if allbad or t in (2,5): raise RuntimeError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.02 GiB is free." if t==2 or allbad else "Loss is nan, stopping trial")
        for e in range(3): print(f"[trial {t}] epoch {e} val_loss {1/(e+1)+lr:.4f}")
        ok+=1; print(f"[trial {t}] done val_loss {0.33+lr:.4f}")
    except Exception as e:
        print(f"[trial {t}] FAILED: {e}"); traceback.print_exc()
print(f"sweep over: {ok}/8 trials succeeded, {8-ok} failed"); print("best: trial 4" if ok else "best: none")
