"""Secrets that show by their own shape: provider tokens, keys, URLs with credentials.

Each entry is compiled only when a text contains one of its needles, so ordinary lines cost a few
substring searches. A replacement keeps what tells the reader which kind of secret it was.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

MASK = "***"


class Shape(NamedTuple):
    """Literals of which one must be present, the pattern, and what to put in its place."""

    needles: tuple[str, ...]
    pattern: str
    replacement: str = r"\1" + MASK


_ALNUM = "[A-Za-z0-9]"
_URLSAFE = "[A-Za-z0-9_-]"


def _prefixed(prefixes: str, body: str, *needles: str) -> Shape:
    return Shape(needles, rf"(?<!{_ALNUM})({prefixes}){body}")


_PEM_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"

SHAPES: tuple[Shape, ...] = (
    # a block that was cut is masked to the end of the text: what follows may be key material
    Shape(
        ("PRIVATE KEY",),
        rf"(?s)(-----BEGIN {_PEM_LABEL})(?:(?!-----END ).)*(-----END {_PEM_LABEL}|\Z)?",
        rf"\1{MASK}\2",
    ),
    Shape(
        ("PRIVATE KEY",),
        rf"(?<![A-Za-z0-9+/=\\\s*-])[A-Za-z0-9+/=\\\s]{{16,}}(-----END {_PEM_LABEL})",
        MASK + r"\n\1",
    ),
    # short ones only with a mix of characters that file names such as hf_checkpoint1000 lack
    _prefixed(
        "hf_|api_org_",
        rf"(?:{_ALNUM}{{30,}}|(?=[a-z0-9]*[A-Z])(?=[A-Z]*[a-z0-9]){_ALNUM}{{10,}}"
        rf"|(?!check|ckpt|step|epoch|iter|model)(?:[a-z]*\d){{3}}(?<=[a-z0-9]{{6}}){_ALNUM}{{4,}})(?![_-])",
        "hf_",
        "api_org_",
    ),
    _prefixed(r"sk-(?:[a-z]{2,8}\d{0,2}-)?", rf"(?=[A-Za-z_-]{{0,64}}\d){_URLSAFE}{{12,}}", "sk-"),
    _prefixed("[rs]k_(?:live|test)_|pk_live_", rf"{_ALNUM}{{10,}}", "k_live_", "k_test_"),
    _prefixed("gh[pousr]_", rf"{_ALNUM}{{16,}}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _prefixed("github_pat_", r"\w{16,}", "github_pat_"),
    _prefixed("gl[a-z]{1,6}-", rf"(?=[A-Za-z_-]{{0,64}}\d){_URLSAFE}{{16,}}(?:\.[0-9a-z.]+)?", "gl"),
    _prefixed("A(?:KIA|SIA|BIA|CCA)", r"[A-Z0-9]{12,}", "AKIA", "ASIA", "ABIA", "ACCA"),
    _prefixed("AIza", rf"{_URLSAFE}{{30,}}", "AIza"),
    _prefixed(r"ya29\.", r"[A-Za-z0-9_.-]{16,}", "ya29."),
    _prefixed("GOCSPX-", rf"{_URLSAFE}{{16,}}", "GOCSPX-"),
    _prefixed("xox[a-z]-|xapp-", r"[A-Za-z0-9-]{10,}", "xox", "xapp-"),
    Shape(("hooks.slack.com/",), r"(hooks\.slack\.com/\w+/)[\w/-]+"),
    Shape(("/api/webhooks/",), r"(/api/webhooks/\d+/)[\w-]+"),
    _prefixed("nvapi-", rf"{_URLSAFE}{{16,}}", "nvapi-"),
    _prefixed(r"eyJ", r"[\w-]{8,}(?:\.[\w-]+){1,4}", "eyJ"),
    _prefixed("eyJhdXRocyI6", r"[A-Za-z0-9+/=]+", "eyJhdXRocyI6"),
    _prefixed(r"wandb_v\d_", r"\w{16,}", "wandb_v"),
    Shape(("wandb login",), r"(wandb login\b(?:\s+--[\w-]+)*\s+)[0-9a-f]{32,}"),
    _prefixed("npm_", rf"{_ALNUM}{{30,}}", "npm_"),
    _prefixed("pypi-", rf"{_URLSAFE}{{32,}}", "pypi-"),
    _prefixed("dckr_[a-z]{3}_", rf"{_URLSAFE}{{16,}}", "dckr_"),
    _prefixed(r"hv[sbr]\.", rf"{_URLSAFE}{{20,}}", "hvs.", "hvb.", "hvr."),
    _prefixed(
        "r8_|gsk_|xai-|pplx-|tgp_v1_|fw_", rf"{_ALNUM}{{24,}}", "r8_", "gsk_", "xai-", "pplx-", "tgp_", "fw_"
    ),
    _prefixed("tskey-[a-z]+-", rf"{_URLSAFE}{{10,}}", "tskey-"),
    _prefixed("lsv2_[a-z]{2}_", r"\w{16,}", "lsv2_"),
    _prefixed(r"SG\.", rf"{_URLSAFE}{{16,}}\.{_URLSAFE}{{16,}}", "SG."),
    _prefixed("do[opr]_v1_", r"[0-9a-f]{32,}", "_v1_"),
    _prefixed("dapi", r"[0-9a-f]{32}(?:-\d)?\b", "dapi"),
    _prefixed("ATATT3|ATCTT3", r"[A-Za-z0-9_=-]{16,}", "TT3"),
    _prefixed("AGE-SECRET-KEY-1", r"[A-Z0-9]{20,}", "AGE-SECRET-KEY-1"),
    _prefixed("MUNGE:", r"[A-Za-z0-9+/=]{20,}:?", "MUNGE:"),
    # Azure storage and service bus keys carry this marker in a fixed place
    Shape(
        ("+AStA", "JQQJ99", "AzFu", "+ASb", "+AEh"),
        r"(?<![A-Za-z0-9+/])()[A-Za-z0-9+/]{36,80}(?:AStA|JQQJ99|ASb|AEh)[A-Za-z0-9+/]{2,}={0,2}",
    ),
    # scheme://user:password@host; a password may hold a slash where no port can be mistaken for it
    Shape(("://",), r"""(://[^\s/:@'"<>]*:)(?!\*{3}@)[^\s/'"<>]+(?=@)"""),
    Shape(
        ("://",),
        r"""((?:postgres\w*|mysql|mariadb|rediss?|amqps?|mongodb)(?:\+\w+)?://[^\s/:@'"<>]*:)"""
        r"""(?!\*{3}@)[^\s'"<>@]{1,200}(?=@)""",
    ),
    Shape(("://",), r"(://)[A-Za-z0-9_.~%-]{16,}(?=@)"),
    Shape(
        ("uthorization", "AUTHORIZATION"),
        r"""(?i)(authorization\\*["']?\s*[:=]\s*\\*["']?(?:(?:basic|bearer|token|digest|negotiate|apikey|bot)\s+)?)"""
        r"""(?!\*{3}|[<$]|AWS4-|none\b|(?:basic|bearer|token|digest|negotiate)\b)[^\s"',\\;)}\]]+""",
    ),
    Shape(("AWS4-HMAC",), r"(Credential=|Signature=)[\w/+=-]{16,}"),
    Shape(
        ("earer", "EARER"),
        rf"(?<!{_ALNUM})((?i:bearer)\s+)(?:(?=[A-Za-z_.~+/-]{{0,64}}\d)[\w.~+/-]{{8,}}|[\w.~+/-]{{24,}})=*",
    ),
    Shape(("ookie:",), r"""((?i:\bcookie):\s*)(?!\*{3})[^\s=;"']+=[^\r\n"']+"""),
    Shape(("machine ", "login "), r"(\blogin\s+\S+\s+password\s+)\S+"),
    Shape(("curl ",), r"""(\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]*["']?[^\s:"']+:)[^\s"']+"""),
    Shape(
        ("sshpass", "docker login"),
        r"""(\b(?:sshpass|docker login)\b[^\n]{0,200}?\s-p\s*)(?!\*{3})["']?[^\s"']+""",
    ),
)


_NEEDLES = tuple((needle, index) for index, shape in enumerate(SHAPES) for needle in shape.needles)


@cache
def _compiled(index: int) -> re.Pattern[str]:
    return re.compile(SHAPES[index].pattern)


def mask_shapes(text: str) -> str:
    """``text`` with every secret that has a shape of its own replaced by its prefix and ``***``."""
    for index in sorted({index for needle, index in _NEEDLES if needle in text}):
        text = _compiled(index).sub(SHAPES[index].replacement, text)
    return text
