import sys, time
import ray
from ray.util.placement_group import placement_group
ray.init(address="local", num_cpus=8, num_gpus=2, include_dashboard=False, object_store_memory=200 * 2**20)
tp = int(sys.argv[sys.argv.index("--tp") + 1])
print(f"INFO engine: cluster resources {ray.cluster_resources().get('GPU')} GPU, {ray.cluster_resources().get('CPU')} CPU")
pg = placement_group([{"GPU": 1, "CPU": 1}] * tp, strategy="PACK")
t = time.time()
while True:
    ready, _ = ray.wait([pg.ready()], timeout=12)
    if ready: break
    print(f"INFO engine: waiting for creating a placement group of specs for {int(time.time() - t)} seconds. specs={pg.bundle_specs}")
    if time.time() - t > 35:
        ray.get(pg.ready(), timeout=1)
