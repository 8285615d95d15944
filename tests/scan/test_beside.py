"""Values that structured loggers keep beside a message without numbers."""

from __future__ import annotations

from triage import Engine, Source
from triage.scan.prefix import split_line

STEP = '{{"ts": 1795472347.{at}, "rank": {rank}, "event": "step", "step": {step}, "loss_local": {loss}}}\n'


def test_values_stand_behind_a_bare_event() -> None:
    line = STEP.format(at=808, rank=5, step=37, loss="4.5").rstrip()
    assert split_line(line)[1] == "step step=37 loss_local=4.5"


def test_a_message_with_numbers_of_its_own_stays() -> None:
    assert split_line('{"ts": 1795472347.8, "msg": "took 3 s", "seconds": 3}')[1] == "took 3 s"


def test_an_event_may_be_called_by_its_level() -> None:
    prefix, message = split_line('{"ts": 1795472348.3, "rank": 6, "event": "fatal", "msg": "model diverged"}')
    assert (prefix.rank, prefix.level, message) == (6, "fatal", "model diverged")


def test_the_first_rank_without_a_number_is_the_origin(engine: Engine) -> None:
    log = "".join(STEP.format(at=800 + r, rank=r, step=37, loss="NaN" if r == 5 else 4.0) for r in range(8))
    log += "".join(STEP.format(at=900 + r, rank=r, step=38, loss="NaN") for r in range(8))
    log += '{"ts": 1795472348.3, "rank": 6, "event": "fatal", "msg": "model diverged"}\n'
    cause = engine.diagnose(Source("wave.jsonl", data=log.encode())).root_cause
    assert cause is not None
    assert (cause.category, cause.origin.rank) == ("numerics", 5)
