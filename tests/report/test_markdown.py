"""Markdown: what it says, and that nothing from a log becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Diagnosis, Evidence
from triage.report.markdown import code, escape, fenced, render

from .diagnoses import HOSTILE, TOKEN

markdown_it = pytest.importorskip("markdown_it")


def parse(text: str) -> list[object]:
    """The tokens that a parser with links, tables and strike-through sees, inline ones included."""
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return [t for token in parser.parse(text) for t in (token, *(token.children or []))]


def kinds(text: str) -> set[str]:
    return {token.type for token in parse(text)}  # type: ignore[attr-defined]


def prose(text: str) -> str:
    """What a reader sees outside of code."""
    return "".join(t.content for t in parse(text) if t.type == "text")  # type: ignore[attr-defined]


def test_the_order_of_a_ticket(oom: Diagnosis) -> None:
    text = render(oom)
    assert text.startswith("## FAILED: gpu-oom on rank 2 (gpu-node-01, GPU 2)\n\nrank 2 asked for 2.00 GiB")
    assert re.findall("^### (.*)", text, re.MULTILINE) == [
        "Evidence", "What to do", "What does not help", "What it explains", "Less likely", "Notes",
    ]  # fmt: skip
    assert "- **Who acts:** user: the workload needs a change" in text
    assert "   ```bash\n   python train.py --micro-batch-size 1" in text
    assert "\n3. **operator:** Make sure" in text
    assert "- 14 × NCCL watchdog timeout on ranks 0, 1, 3-7" in text
    assert "rule `torch.oom`, fingerprint `5b7c0e91d2aa`" in text


def test_verbose_adds_ranks_findings_sources_and_references(oom: Diagnosis) -> None:
    text = render(oom, verbose=True)
    assert "0, 1, 3-7  timed-out  ALLREDUCE" in text
    assert "- <https://pytorch.org/docs/stable/notes/cuda.html#memory-management>" in text
    assert "- logs/job-4711.err: log, 51,234 bytes" in text


def test_attempts_and_warnings(hardware: Diagnosis, healthy: Diagnosis) -> None:
    assert "- attempt 1: failed: gpu-hardware on gpu-07" in render(hardware)
    assert "## HEALTHY: the job ran to its end" in render(healthy)
    assert "### Warnings\n\n- numerics: the loss is NaN" in render(healthy)


@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_hostile_becomes_markup(hostile: Diagnosis, verbose: bool) -> None:
    text = render(hostile, verbose)
    assert not kinds(text) & {
        "html_inline",
        "html_block",
        "link_open",
        "image",
        "em_open",
        "table_open",
        "s_open",
    }
    headings = [line for line in text.split("\n") if re.match(r"#+ ", line)]
    assert not any(line.startswith("# ") for line in headings if line != "# heading")
    assert "@admin" not in prose(text)
    assert "#123" not in prose(text)
    assert "https://" not in prose(text)
    assert TOKEN not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_fence_is_longer_than_what_it_holds() -> None:
    text = fenced("```\n`````\n# no heading")
    assert text.startswith("``````text\n")
    assert kinds(text) == {"fence"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# heading", "\\# heading"),
        ("- item", "\\- item"),
        ("10. item", "10\\. item"),
        ("> quote", "\\> quote"),
        ("a_b_c _em_ *b*", "a_b_c \\_em\\_ \\*b\\*"),
        ("a < b & c &lt;", "a &lt; b & c &amp;lt;"),
        ("two\nlines", "two lines"),
        ("see https://x.org/a now", "see `https://x.org/a` now"),
        ("ask @bob about #12", "ask `@bob` about `#12`"),
        ("[x](y)", "\\[x\\](y)"),
        ("at 18:09:26", "at 18:09:26"),
    ],
)
def test_escaping(text: str, shown: str) -> None:
    assert escape(text) == shown


@pytest.mark.parametrize("text", ["", "`", "a`b", "``x``", "`` ` ``"])
def test_code_spans_hold_any_backticks(text: str) -> None:
    tokens = [t for t in parse("x " + code(text)) if t.type == "code_inline"]  # type: ignore[attr-defined]
    assert len(tokens) == 1 or not text
    assert not text or tokens[0].content == text  # type: ignore[attr-defined]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([*"`*_[]()<>!#-+.1|~&$\\ :@", "ab", "<b>", "](x)", "http://a.b/"]), max_size=16)
)
def test_escaped_text_shows_as_it_is(pieces: list[str]) -> None:
    text = " ".join("".join(pieces).split())
    tokens = parse("x\n\n" + escape(text))
    assert {t.type for t in tokens} <= {"paragraph_open", "inline", "text", "paragraph_close", "code_inline"}  # type: ignore[attr-defined]
    shown = "".join(t.content for t in tokens[4:] if t.type in ("text", "code_inline"))  # type: ignore[attr-defined]
    assert shown == text or "`" in text


def test_long_evidence_is_shortened_in_the_middle(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    lines = "\n".join(f"line {n}" for n in range(100))
    root = replace(oom.root_cause, evidence=(Evidence("x", 1, lines),))
    text = render(replace(oom, root_cause=root))
    assert "line 14\n… 70 more lines\nline 85" in text


def test_hostile_words_are_still_readable() -> None:
    assert "HF_TOKEN=" in escape(HOSTILE)
