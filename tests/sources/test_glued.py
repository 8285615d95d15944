"""Lines that several processes wrote at once."""

from __future__ import annotations

from triage import Engine
from triage.sources.glued import taken_apart

STEPS = [f"[rank {rank}] step {step} loss 2.{step}" for step in range(4) for rank in range(4)]


def joined(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def test_the_words_of_several_stand_on_lines_of_their_own_again() -> None:
    together = [*STEPS[:5], STEPS[5] + STEPS[6], "", STEPS[7] + STEPS[8] + STEPS[9], "", "", *STEPS[10:]]
    assert taken_apart(joined(together)) == joined(STEPS)


def test_the_line_feed_may_come_later() -> None:
    together = [*STEPS[:5], STEPS[5] + STEPS[6], STEPS[7], "", *STEPS[8:]]
    assert taken_apart(joined(together)) == joined(STEPS)


def test_so_may_a_traceback_behind_words() -> None:
    head = "Traceback (most recent call last):"
    frame = '  File "train.py", line 3, in main'
    assert taken_apart(joined([*STEPS, f"saving{head}", "", frame])) == joined(
        [*STEPS, "saving", head, frame]
    )


def test_what_lacks_no_line_feed_stays() -> None:
    assert taken_apart(joined(STEPS)) is None
    assert taken_apart(joined([*STEPS, "peers: " + STEPS[3], "", "done"])) is None
    assert taken_apart(joined([*STEPS, "copied /data/" + STEPS[3], "", "done"])) is None
    assert taken_apart(joined([*STEPS, STEPS[0] + STEPS[1], "done"])) is None


def test_who_came_no_further_is_seen_in_them() -> None:
    lines = [f"[rank {rank}] iter {step} loss 2.5" for step in range(10, 20) for rank in range(4)]
    lines.remove("[rank 2] iter 19 loss 2.5")
    *most, one, two, three = lines
    timeout = (
        "[rank0]:[E1123 10:10:00.123456789 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation"
        " timeout: WorkNCCL(SeqNum=55, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for"
        " 600053 milliseconds before timing out."
    )
    diagnosis = Engine().diagnose(joined([*most, one + two + three, "", "", timeout]))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.origin.rank == 2
