"""What is raised by those who only read: the format that they read, and whose file it was, tell the kind of failure."""

from __future__ import annotations

import pytest

from triage import Engine, Source

SITE = "/opt/venv/lib/python3.12/site-packages"
OWN = "/work/run.py"


def category(engine: Engine, ends: str, *frames: tuple[str, str, str]) -> str:
    """The kind of failure of a log that ends with an exception."""
    lines = ["Traceback (most recent call last):"]
    for path, function, code in frames:
        lines += [f'  File "{path}", line 41, in {function}', f"    {code}"]
    log = "".join(f"[rank3]: {line}\n" for line in [*lines, ends])
    root = engine.diagnose(Source(name="job.err", data=log.encode())).root_cause
    assert root is not None
    return root.category


@pytest.mark.parametrize(
    ("ends", "code", "wanted"),
    [
        # compiled readers have no frames of their own
        ("zstandard.backend_c.ZstdError: error determining size from frame header", "x = d.decompress(b)", "data-loading"),
        ("lmdb.InvalidError: cache: MDB_INVALID: File is not an LMDB file", "env = lmdb.open(p)", "data-loading"),
        ("lmdb.MapFullError: mdb_put: MDB_MAP_FULL: Environment mapsize limit reached", "t.put(k, v)", "config"),
        ("lmdb.ReadonlyError: mdb_put: Permission denied", "t.put(k, v)", "user-code"),
        ("_csv.Error: field larger than field limit (131072)", "for row in reader:", "data-loading"),
        ("zlib.error: Error -3 while decompressing data: invalid block type", "return zlib.decompress(b)", "data-loading"),
        ("RuntimeError: LZ4F_getFrameInfo failed with code: ERROR_frameType_unknown", "lz4.frame.decompress(b)", "data-loading"),
        # fields of which Python makes no number
        ("ValueError: could not convert string to float: 'n/a'", "yield float(row['score'])", "data-loading"),
        ("ValueError: invalid literal for int() with base 10: ''", "n = int(line.split()[1])", "data-loading"),
        ("ValueError: invalid literal for int() with base 10: 'auto'", "n = int(os.environ['WORLD'])", "config"),
        # a text that is not what it is taken for, by whose file it is
        ("json.decoder.JSONDecodeError: Expecting value: line 2", "c = json.load(open('ds_config.json'))", "config"),
        ("json.decoder.JSONDecodeError: Expecting value: line 4 (char 43)", "cfg = json.loads(p.read_text())", "config"),
        ("json.decoder.JSONDecodeError: Expecting value: line 4 (char 43)", "w = json.loads(read(f'conf/w-{n}.json'))", "config"),
        ("json.decoder.JSONDecodeError: Expecting value: line 2", "r = [json.loads(line) for line in f]", "data-loading"),
        ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "return client.get(url).json()", "user-code"),
        ("tomllib.TOMLDecodeError: Invalid value (at line 1, column 6)", "c = tomllib.load(f)", "config"),
        ("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xfc", "src, hyp = line.decode().split()", "data-loading"),
        # who is not let in, and who does not answer, whatever raises it
        ("urllib.error.HTTPError: HTTP Error 403: Forbidden", "raise last", "auth-or-hub"),
        ("urllib.error.HTTPError: HTTP Error 503: Service Unavailable", "raise last", "network-config"),
        ("OSError: [Errno -51] NetCDF: Unknown file format: 't2m_1999.nc'", "return netCDF4.Dataset(p)['t2m']", "data-loading"),
        # what a program refuses in words of its own
        ("ValueError: validation split is empty after filtering", "raise ValueError('validation split is empty')", "data-loading"),
        ("RuntimeError: clip_00312.mp4: decoded 12 of 64 frames", "if n < m: raise RuntimeError(f'{c}: decoded {n}')", "data-loading"),
        ("RuntimeError: only 46 GB free on /scratch, a checkpoint needs 90 GB", "raise RuntimeError(f'only {n}')", "storage"),
        ("PermissionError: solver license expired on 2025-12-31", "raise PermissionError(f'solver {s}')", "auth-or-hub"),
        ("KeyError: 'cosin'", "f = SCHEDULES[cfg['scheduler']]", "config"),
        ("KeyError: 'cosin'", "f = SCHEDULES[name]", "user-code"),
        # what speaks another version
        ("RuntimeError: worker runs trainer 1.3.9, coordinator runs trainer 1.4.2", "raise RuntimeError(f'{w}')", "driver-or-version"),
        ("RuntimeError: peer speaks protocol 5, this build speaks 6", "raise RuntimeError(f'{v}')", "driver-or-version"),
        ("ValueError: cache format version 5 is newer than this reader (4)", "raise ValueError(f'{h}')", "driver-or-version"),
    ],
)  # fmt: skip
def test_what_is_raised_in_the_programs_own_frame(engine: Engine, ends: str, code: str, wanted: str) -> None:
    assert category(engine, ends, (OWN, "main", "go()"), (OWN, "turn", code)) == wanted


@pytest.mark.parametrize(
    ("ends", "frame", "wanted"),
    [
        (
            "ValueError: This file contains pickled (object) data.",
            (f"{SITE}/numpy/lib/_npyio_impl.py", "load", "raise ValueError"), "data-loading",
        ),
        (
            "pandas.errors.ParserError: Error tokenizing data. C error: Expected 3 fields in line 4, saw 5",
            ("pandas/_libs/parsers.pyx", "pandas._libs.parsers.raise_parser_error", "pass"), "data-loading",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'",
            ("/usr/lib/python3.12/subprocess.py", "_execute_child", "raise child_exception_type(errno_num)"), "driver-or-version",
        ),
        (
            "KeyError: 'cluster'",
            ("/usr/lib/python3.12/configparser.py", "__getitem__", "raise KeyError(key)"), "config",
        ),
    ],
)  # fmt: skip
def test_what_is_raised_below_it(engine: Engine, ends: str, frame: tuple[str, str, str], wanted: str) -> None:
    assert category(engine, ends, (OWN, "main", "go()"), (OWN, "turn", "x = given(p)"), frame) == wanted


def test_a_server_that_never_answered_did_not_vanish(engine: Engine) -> None:
    frames = (
        (OWN, "main", "go()"),
        (f"{SITE}/aiohttp/connector.py", "_wrap_create_connection", "raise client_error(req)"),
    )
    refused = "[Connect call failed ('10.0.0.7', 8000)]"
    ends = f"aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host 10.0.0.7:8000 ssl:default {refused}"
    assert category(engine, ends, *frames) == "network-config"


@pytest.mark.parametrize(
    ("path", "function", "words", "wanted"),
    [
        ("somelib/data/sft.py", "normalize_sft_examples", "SFT source produced nothing after normalization.", "data-loading"),
        ("somelib/data/chat.py", "normalize_conversation", "Chat rows must contain 'messages' or 'turns'.", "data-loading"),
        ("somelib/rl_dataset.py", "_build_messages", "image offset 3 does not fit two images", "data-loading"),
        # a flag that goes wrong there is a flag, and what is no record's is nobody's
        ("somelib/data/sft.py", "tokenize_sample", "--pack-sequences and --pad-to-max cannot be used together", "config"),
        ("somelib/data/sft.py", "register_processor", "processor name has been registered before", "user-code"),
        ("somelib/model/vision.py", "encode_image", "image offset 3 does not fit two images", "user-code"),
    ],
)  # fmt: skip
def test_what_prepares_one_record_after_the_other_speaks_of_the_data(
    engine: Engine, path: str, function: str, words: str, wanted: str
) -> None:
    frames = (
        (OWN, "<module>", "main()"),
        (f"{SITE}/{path}", function, f'raise ValueError("{words}")'),
    )
    assert category(engine, f"ValueError: {words}", *frames) == wanted


@pytest.mark.parametrize(
    ("path", "function", "words", "wanted"),
    [
        ("somelib/arguments.py", "validate_args", "can only specify one of lr-warmup-fraction and lr-warmup-iters", "config"),
        ("somelib/transformer_config.py", "__post_init__", "Mismatch: 7 middle layers remaining but 4 stages", "config"),
        ("somelib/distill_config.py", "__post_init__", "generation_batch_size must be at least 1, got 0", "config"),
        ("somelib/arguments.py", "somelib_validate_args", "the role names of one group must be a list of two", "config"),
        # tensors are no settings, wherever they are looked at
        ("somelib/kernel_config.py", "_validate_inputs", "hidden_states must be a contiguous 2D tensor, got shape (4,)", "user-code"),
    ],
)  # fmt: skip
def test_what_checks_settings_in_a_file_of_settings_speaks_of_them(
    engine: Engine, path: str, function: str, words: str, wanted: str
) -> None:
    frames = (
        (OWN, "<module>", "main()"),
        (f"{SITE}/{path}", function, f'raise ValueError("{words}")'),
    )
    assert category(engine, f"ValueError: {words}", *frames) == wanted
