"""A last try that raised something before its first step did not succeed."""

from __future__ import annotations

from triage import Engine, Source

FIRST = (
    "step 10 loss 2.31\n"
    "E0213 12:07:20.086000 8705 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 "
    "(pid: 8760) of binary: /opt/venv/bin/python3.11\n"
    "I0213 12:07:20.087000 8705 torch/distributed/elastic/agent/server/api.py:889] [default] Worker group FAILED. 3/3 "
    "attempts left; will restart worker group\n"
)
CLOSED = (
    "Traceback (most recent call last):\n"
    '  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/elastic/rendezvous/dynamic_rendezvous.py", line 12, '
    "in next_rendezvous\n"
    "    raise RendezvousClosedError()\n"
    "torch.distributed.elastic.rendezvous.api.RendezvousClosedError\n"
)


def test_it_is_the_earlier_failure(engine: Engine) -> None:
    found = engine.diagnose(Source("node0.log", data=(FIRST + CLOSED).encode()))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "ledger.exited"


def test_one_that_moved_on_is_healthy(engine: Engine) -> None:
    found = engine.diagnose(
        Source("node0.log", data=(FIRST + "step 11 loss 2.30\nstep 12 loss 2.29\n").encode())
    )
    assert found.verdict == "healthy"


ANNOUNCED = (
    "2022-02-13 12:07:19,608 - frob - INFO - Epoch [1][12/50] lr: 1.0e-04, time: 2.2, loss: 0.75\n"
    "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 1 (pid: 8760) of binary: python\n"
    "INFO:torch.distributed.elastic.agent.server.api:[default] Worker group FAILED. 3/3 attempts left; will restart worker group\n"
)


def test_one_that_was_only_announced_did_not_succeed(engine: Engine) -> None:
    text = ANNOUNCED + "INFO:torch.distributed.elastic.agent.server.api:[default] Stopping worker group\n"
    found = engine.diagnose(Source("node0.log", data=text.encode()))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.origin.rank == 1


def test_one_that_goes_on_in_words_that_no_rule_knows_is_healthy(engine: Engine) -> None:
    begun = "INFO:torch.distributed.elastic.agent.server.api:[default] Rendezvous'ing worker group\n"
    text = ANNOUNCED + begun + "".join(f"frobnicated part {n} of the corpus\n" for n in range(40))
    assert engine.diagnose(Source("node0.log", data=text.encode())).verdict == "healthy"


WORKED = (
    "[rank1]: Traceback (most recent call last):\n"
    '[rank1]:   File "/workspace/worker.py", line 19, in main\n'
    '[rank1]:     plan = plans["shape"]\n'
    "[rank1]: KeyError: 'shape'\n"
    "[rank2]: Traceback (most recent call last):\n"
    '[rank2]:   File "/workspace/worker.py", line 11, in main\n'
    "[rank2]:     dist.all_reduce(x)\n"
    "[rank2]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:561] Connection closed by peer [127.0.0.1]:25831\n"
    "I0213 12:07:20.087000 8705 torch/distributed/elastic/agent/server/api.py:889] [default] Worker group FAILED. 1/1 "
    "attempts left; will restart worker group\n"
)
APART = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/workspace/worker.py", line 8, in main\n'
    '[rank0]:     dist.init_process_group("gloo")\n'
    "[rank0]: RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out "
    "connecting: SO_ERROR: Connection refused, remote=[127.0.0.1]:41892\n"
)


def test_ranks_that_had_met_before_had_a_network(engine: Engine) -> None:
    cause = engine.diagnose(Source("job.log", data=(WORKED + APART).encode())).root_cause
    assert cause is not None
    assert (cause.category, cause.origin.rank) == ("user-code", 1)


def test_a_later_try_that_did_not_get_as_far_says_nothing_of_the_cause(engine: Engine) -> None:
    """All ranks failed behind the rendezvous; the tries after that met the remains of the first one there."""
    raised = (
        "[rank{0}]: Traceback (most recent call last):\n"
        '[rank{0}]:   File "/workspace/worker.py", line 31, in main\n'
        "[rank{0}]:     manifest = json.load(handle)\n"
        "[rank{0}]: json.decoder.JSONDecodeError: Expecting ',' delimiter: line 2 column 1 (char 51)\n"
    )
    restart = (
        "I0213 12:07:20.087000 8705 torch/distributed/elastic/agent/server/api.py:889] [default] Worker group FAILED. "
        "{0}/2 attempts left; will restart worker group\n"
    )
    text = "".join(map(raised.format, (0, 1))) + restart.format(2) + APART + restart.format(1) + APART
    found = engine.diagnose(Source("job.log", data=text.encode()))
    assert found.root_cause is not None
    assert "JSONDecodeError" in found.root_cause.summary
    assert len(found.attempts) == 3
