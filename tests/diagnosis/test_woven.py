"""Tracebacks of processes that fail in the same moment and write into each other."""

from __future__ import annotations

from triage import Diagnosis, Engine, Source

HEAD = 'Traceback (most recent call last):\n  File "/work/train.py", line 35, in <module>\n'
CODE = "    params = Settings(os.path.abspath(args.yaml_config), args.config)\n"
WOVEN = (
    HEAD + HEAD + CODE + "      params = Settings(os.path.abspath(args.yaml_config), args.config) \n"
    "                ^ ^ ^ ^ ^^^^^^^^^^^^^^^^^^^^^^Traceback (most recent call last):\n"
    '^^^^^^^  File "/work/train.py", line 35, in <module>\n'
    '^^  File "/work/settings.py", line 16, in __init__\n'
    "^^^^^\n"
    "             with open(yaml_filename) as _file:with open(yaml_filename) as _file: ^\n\n"
)
GLUED = "^^^^IsADirectoryErrorIsADirectoryError^^: : ^^[Errno 21] Is a directory: '/work'^[Errno 21] Is a directory: '/work'^\n"
END = "IsADirectoryError: [Errno 21] Is a directory: '/work'\n"
AGENT = (
    "E0529 17:45:56.327000 3387988 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
    "local_rank: 0 (pid: 3388051) of binary: /opt/venv/bin/python\n"
)


def diagnosed(engine: Engine, text: str) -> Diagnosis:
    return engine.diagnose(Source("job.err", data=text.encode()))


def test_the_last_of_them_to_end_speaks_for_all(engine: Engine) -> None:
    root = diagnosed(engine, WOVEN + GLUED + END + AGENT).root_cause
    assert root is not None
    assert root.category == "config"
    assert "IsADirectoryError" in root.title
    assert root.evidence[0].text.startswith("IsADirectoryError: ")


def test_of_two_different_ends_none_is_taken(engine: Engine) -> None:
    root = diagnosed(engine, WOVEN + END + "KeyError: 'lr'\n" + AGENT).root_cause
    assert root is not None
    assert "IsADirectoryError" not in root.title


def test_a_module_that_was_not_there_is_not_missed_by_a_program_that_ran(engine: Engine) -> None:
    lmod = 'Lmod has detected the following error: The following module(s) are unknown:\n"conda"\n\n'
    root = diagnosed(engine, lmod + WOVEN + END + AGENT).root_cause
    assert root is not None
    assert root.rule_id != "host.command-not-found"


TAGGED = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/work/finetune.py", line 179, in main\n'
    "[rank0]:     model = wrap(\n"
)


def test_an_exception_whose_second_copy_was_cut_off_is_told_by_the_end_of_the_first(engine: Engine) -> None:
    root = diagnosed(engine, "ValueError: 3 is not what was hoped for\n" + TAGGED).root_cause
    assert root is not None
    assert root.evidence[0].text == "ValueError: 3 is not what was hoped for"
    assert "finetune.py:179" in root.title


def test_an_end_that_stands_further_up_is_not_its_own(engine: Engine) -> None:
    text = "ValueError: 3 is not what was hoped for\nretrying with the defaults\n" + TAGGED
    root = diagnosed(engine, text).root_cause
    assert root is not None
    assert "finetune.py:179" not in root.title or "ValueError" not in root.title
