import warnings, numpy as np, logging, threading, asyncio, atexit, sys, gc, subprocess, concurrent.futures as cf, os, time
log=logging.getLogger("pipeline"); logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
print("building index"); np.float32(3e38)*np.float32(10); np.array([1.,0])/np.array([0.,0])
log.info("worker pool up: 4 processes"); log.info("rows %d/%d", 1,2,3)
async def bg(): raise TimeoutError("prefetch of shard 3 timed out")
async def main():
    t=asyncio.ensure_future(bg()); await asyncio.sleep(0.1); del t; gc.collect(); print("shards read: 12")
asyncio.run(main())
def boom(i):
    if i==3 and not os.path.exists("/scratch/b"): open("/scratch/b","w"); os.kill(os.getpid(),9)
    return i*i
if os.path.exists("/scratch/b"): os.remove("/scratch/b")
done=[]
for tr in range(3):
    try:
        with cf.ProcessPoolExecutor(2) as ex: done=list(ex.map(boom, range(8))); break
    except cf.process.BrokenProcessPool as e:
        log.error("worker pool broke (%s), making a new one", e)
log.info("tokenized 8/8 chunks: %s", done)
try: subprocess.check_call(["git","rev-parse","HEAD"],cwd="/")
except Exception as e: log.warning("no git revision: %s", e)
os.system("nvidia-smi-none")
class R:
    def __del__(self): raise RuntimeError("CUDA driver is shutting down")
r=R()
def bye(): raise OSError("cannot remove lock file /scratch/.lock: No such file")
atexit.register(bye)
for i in range(5): print(f"Epoch {i+1}/5: train_loss={1/(i+1):.3f} val_acc={0.5+i*0.05:.3f}")
print("Best val_acc 0.700 at epoch 5"); print("Finished. Model written to out/model.safetensors")
