import os, logging
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(asctime)s:%(name)s:%(message)s")
import jax
jax.distributed.initialize(coordinator_address=f"127.0.0.1:{os.environ['PORT']}", num_processes=3, process_id=int(os.environ["PROC"]), initialization_timeout=20)
logging.info("%d processes, %d devices", jax.process_count(), jax.device_count())
