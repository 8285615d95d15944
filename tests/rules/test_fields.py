from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.rules.fields import CONVERTERS, show


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("bytes", "2.00 GiB", 2 << 30), ("bytes", "20.00 MB", 20 << 20), ("bytes", "1,024", 1024),
        ("kib", "2048", 2 << 20), ("seconds", "600 s", 600.0), ("seconds", "600000ms", 600.0),
        ("seconds", "1-02:03:04", 93784.0), ("seconds", "10 minutes", 600.0), ("ms", "15012", 15.012),
        ("int", "0x10", 16), ("int", "1,000", 1000), ("version", "2.11.0+cu130", (2, 11, 0)),
        ("ranks", "[0, 3]", (0, 3)), ("ranks", "0-3,7", (0, 1, 2, 3, 7)), ("pci", "00000000:9B:00.0", "0000:9b:00.0"),
        ("pci", "PCI:0000:9b:00", "0000:9b:00.0"), ("nccl-bus", "9b000", "0000:9b:00.0"), ("shape", "[64, 2]", (64, 2)),
        ("shape", "", ()), ("host", "[::ffff:10.0.0.6]", "10.0.0.6"), ("host", "10.1.2.3<0>", "10.1.2.3"),
        ("bool", "enabled", True), ("hex", "ff", 255),
    ],
)  # fmt: skip
def test_conversions(kind: str, text: str, value: object) -> None:
    assert CONVERTERS[kind](text) == value


@pytest.mark.parametrize(("kind", "text"), [("bytes", "many"), ("seconds", "soon"), ("pci", "x"), ("ranks", "none"),
                                            ("ranks", "0-99999999"), ("version", "new")])  # fmt: skip
def test_nonsense_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ValueError):
        CONVERTERS[kind](text)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(CONVERTERS)), st.text(max_size=40))
def test_any_text_gives_a_value_or_a_value_error(kind: str, text: str) -> None:
    with contextlib.suppress(ValueError, OverflowError):
        CONVERTERS[kind](text)


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (8 << 30, "bytes", "8.00 GiB"), (512, "bytes", "512 B"), (600.0, "seconds", "600 s"), (0.001, "ms", "1 ms"),
        ((0, 1, 2, 5), "ranks", "0-2, 5"), ((2, 11, 0), "version", "2.11.0"), ((64, 2), "shape", "[64, 2]"),
        (None, "int", "unknown"),
    ],
)  # fmt: skip
def test_shown(value: object, kind: str, shown: str) -> None:
    assert show(value, kind) == shown  # type: ignore[arg-type]


def test_a_version_compares_by_its_numbers_and_is_shown_as_it_is_written() -> None:
    version = CONVERTERS["version"]("530.30.02")
    assert version == (530, 30, 2)
    assert version < CONVERTERS["version"]("530.41.03")  # type: ignore[operator]
    assert show(version, "version") == "530.30.02"
    assert show((2, 11, 0), "version") == "2.11.0"
