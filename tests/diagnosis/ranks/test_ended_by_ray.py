"""Whom Ray's memory monitor ended, by the pids that Ray Train lists."""

from __future__ import annotations

from triage import Engine

LOG = """\
(TorchTrainer pid=4001) Started distributed worker processes:
(TorchTrainer pid=4001) - (node_id=aa11, ip=10.0.0.7, pid=4412) world_rank=0, local_rank=0, node_rank=0
(TorchTrainer pid=4001) - (node_id=aa11, ip=10.0.0.7, pid=4413) world_rank=1, local_rank=1, node_rank=0
(TorchTrainer pid=4001) - (node_id=bb22, ip=10.0.0.8, pid=4412) world_rank=2, local_rank=0, node_rank=1
(TorchTrainer pid=4001) - (node_id=bb22, ip=10.0.0.8, pid=4415) world_rank=3, local_rank=1, node_rank=1
(raylet, ip=10.0.0.8) node_manager.cc:3069: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers \
crashed due to other reasons at node (ID: bb22, IP: 10.0.0.8) over the last time period.
Memory on the node (IP: 10.0.0.8, ID: bb22) where the task (actor ID: 91, name=RayTrainWorker.__init__, pid=4415, memory \
used=41.02GB) was running was 60.11GB / 62.50GB (0.961760), which exceeds the memory usage threshold of 0.95. Ray killed \
this worker (ID: cc33) because it was the most recently scheduled task
"""


def test_the_pid_of_a_worker_is_that_of_its_rank(engine: Engine) -> None:
    root = engine.diagnose(LOG.encode()).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("host-oom", 3)
