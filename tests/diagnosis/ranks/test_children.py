"""What whoever started processes says of their ends, and which ranks that tells."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source


def diagnosed(engine: Engine, **logs: str) -> Diagnosis:
    return engine.diagnose(
        [Source(f"{name}.log", data=text.encode(), path=f"{name}.log") for name, text in logs.items()]
    )


def rank(found: Diagnosis) -> int | None:
    assert found.root_cause is not None
    return found.root_cause.origin.rank


def turns(form: str, steps: range, of: range = range(4)) -> str:
    return "".join(form.format(r=r, n=n) for n in steps for r in of)


@pytest.mark.parametrize(
    "end",
    [
        "fleet: member 2 (pid 812) killed by signal 9 (SIGKILL)",
        "fleet: member 2: wait status 137",
        "fleet: member 2 pid 812 ended status -9",
        "fleet: member 2 ended, returncode -9",
        "fleet: member 2 (pid 812) went away with exit code -9; stopping the others",
    ],
)
def test_a_child_is_the_rank_that_its_number_says(engine: Engine, end: str) -> None:
    log = turns("[member {r}] tile {n} of 90 placed\n", range(20)) + end + "\n"
    found = diagnosed(engine, job=log)
    assert found.root_cause is not None
    assert (found.root_cause.category, rank(found)) == ("rank-crash", 2)


def test_a_pid_behind_the_name_of_a_process_tells_its_rank(engine: Engine) -> None:
    log = turns("P{r}@1829{r} round {n}: sent 3000\n", range(20))
    found = diagnosed(
        engine,
        job=log + "[n1:18293] *** Process received signal ***\n[n1:18293] Signal: Segmentation fault (11)\n",
    )
    assert rank(found) == 3


def test_logs_whose_first_lines_differ_in_their_own_names_tell_their_ranks(engine: Engine) -> None:
    names = ("red", "green", "blue")
    logs = {
        f"filter-{name}": f"stack filter={name} rank={at}\n" + "".join(f"visit {n} ok\n" for n in range(9))
        for at, name in enumerate(names)
    }
    logs["go"] = "go: filter blue ended, returncode 1\ngo: filter blue failed\n"
    logs["filter-blue"] += (
        'Traceback (most recent call last):\n  File "/srv/stack.py", line 7, in <module>\n    main()\n'
        "KeyError: 'psf'\n"
    )
    assert rank(diagnosed(engine, **logs)) == 2


def test_who_alone_breaks_off_where_all_others_end_in_order_raised_what_nobody_is_named_for(
    engine: Engine,
) -> None:
    log = turns("[slice {r}] tile {n} mean 0.1\n", range(9)) + (
        'Traceback (most recent call last):\n  File "/srv/seg.py", line 3, in <module>\n    main()\n'
        "ValueError: tile 7 is empty\n"
    )
    log += "".join(
        line.format(r=r)
        for line in ("[slice {r}] tile 9 mean 0.2\n", "[slice {r}] finished\n")
        for r in (0, 2, 3)
    )
    found = diagnosed(engine, job=log)
    assert found.root_cause is not None
    assert found.root_cause.rule_id != "unknown.left-out-of-the-end"
    assert rank(found) == 1


def test_a_zero_of_one_child_ends_no_job_in_which_another_did_not_come_to_zero(engine: Engine) -> None:
    log = (
        turns("packer-{r} {n}/40 joined\n", range(0, 40, 2))
        + "OSError: [Errno 24] Too many open files: '/proc/self/fd'\n"
        "run.sh: packer 1 exit 1\n"
        + "".join(f"packer-{r} finished\nrun.sh: packer {r} exit 0\n" for r in (0, 2, 3))
    )
    found = diagnosed(engine, job=log)
    assert (found.verdict, rank(found)) == ("failed", 1)


def test_a_guard_that_kills_for_memory_is_believed(engine: Engine) -> None:
    log = turns("worker {r}: step {n} pool grows\n", range(20)) + (
        "guard: worker 3 (pid 11) resident 6.0 GB > 6.0 GB, sending SIGKILL\nlauncher: worker 3 ended, returncode -9\n"
    )
    found = diagnosed(engine, job=log)
    assert found.root_cause is not None
    assert (found.root_cause.category, rank(found)) == ("host-oom", 3)


def test_the_last_name_that_nobody_places_is_the_rank_that_is_left(engine: Engine) -> None:
    names = {"green": 0, "amber": 1, "violet": 2, "slate": 3}
    text = "".join(
        f"trainer-{name:<6} | round {n}: loss 0.{n}\n"
        for n in range(6)
        for name in ("slate", "violet", "green", "amber")
    )
    text += "trainer-violet exited with code 137\n"
    for name in ("amber", "slate", "green"):
        tag = f"trainer-{name:<6} | [rank{names[name]}]: "
        text += f'{tag}Traceback (most recent call last):\n{tag}  File "/srv/c.py", line 8, in <module>\n'
        text += f"{tag}    dist.all_reduce(g)\n{tag}RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] "
        text += "Connection closed by peer [127.0.0.1]:921\n"
    root = engine.diagnose([Source("compose.log", data=text.encode())]).root_cause
    assert root is not None
    assert root.origin.rank == 2


def test_names_that_say_their_numbers_are_known_by_them(engine: Engine) -> None:
    names = ["iron", "copper", "zinc", "gold"]
    text = "".join(f"10:00:00 {name} shaft {n} open\n" for n, name in enumerate(names))
    text += "".join(
        f"10:00:{k:02} {name} {k}0 blocks\n"
        for k in range(1, 5)
        for name in ("gold", "iron", "zinc", "copper")
    )
    text += "10:00:09 MainProcess lost copper (exitcode -9), stopping the shift\n"
    root = engine.diagnose([Source("shift.log", data=text.encode())]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 1)
