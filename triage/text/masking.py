"""Masking secrets in log text: by their own shape, and by the name that they are assigned to."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from triage.text.names import Kind, secret_kind
from triage.text.tokens import MASK, mask_shapes

__all__ = ["MASK", "mask"]

_HINTS = ("key", "token", "secret", "passw", "pwd", "pass", "cred", "auth", "sig", "_pat")
"""What every name of a secret contains, in lower case; without one there is nothing to look for."""

_VALUE = (
    # quoted, on one line; the quotes may themselves be escaped
    r"""(?P<q>\\{0,3}["'`])(?P<quoted>(?:\\.|[^\\\n])*?)(?P=q)"""
    r"""|\\{0,3}["'`]?(?P<bare><[^<>\n]{1,80}>(?![^\s"'`,;)\]}])|(?:[^\s"'`\\,;&)\]}]"""
    # punctuation belongs to the value unless it ends it or starts the next assignment
    r"""|[\\,;&)\]}](?![\\"'`,;&)\]}]*(?:\s|$|[\w.-]+["']?[=:]|-)))+)"""
)


class _Patterns(NamedTuple):
    assigned: re.Pattern[str]
    spaced: re.Pattern[str]
    listed: re.Pattern[str]
    value: re.Pattern[str]
    harmless: re.Pattern[str]
    number: re.Pattern[str]
    path: re.Pattern[str]
    lookup: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    return _Patterns(
        # name = value, name: value, "name": "value", name => value, name%3Dvalue
        assigned=re.compile(
            r"""(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z0-9_.-]*[A-Za-z0-9](?: (?:[Kk]ey|[Tt]oken|KEY|TOKEN))?)"""
            r"""(?P<quote>\\{0,3}["'`])?[ \t]{0,8}(?P<sign>=>|:=|==?"""
            # an annotated default value in source code
            r"""|:[ ]?(?:str|Optional\[str\]|SecretStr)\b[ |None]{0,8}=|:|%3[Dd])[ \t]{0,8}"""
        ),
        # --flag value, "--flag", "value", 'NAME', 'value'
        spaced=re.compile(
            r"""(?:(?<![\w-])--?(?P<flag>[A-Za-z][\w.-]*)["']?(?:,\s*|[ \t]+)"""
            r"""|["'](?P<item>[A-Z][A-Z0-9_]*)["'],\s*(?=["'][^"'\n]*["']\s*[,)\]]))(?=[^\s-])"""
        ),
        # name: NAME / value: …, as Kubernetes writes an environment
        listed=re.compile(
            r"""name\\*["']?\s*[:=]\s*\\*["']?(?P<name>[A-Za-z][\w.-]*)\\*["']?[\s,]+[^\w\n]{0,8}"""
            r"""value\\*["']?[ \t]*[:=][ \t]*"""
        ),
        value=re.compile(_VALUE),
        harmless=re.compile(
            r"""(?ix)\*+ | x{3,} | \.{3,}.* | …
            | (?-i:\$[A-Z_][A-Z0-9_]*) | \$\{[^}]*\}? | \$\(.* | %s | %\w+% | %\(\w+\)s | <.*>
            | \{+[\w.\[\]'"!:]*\}+ | [\[({]+
            | none | null | nil | true | false | yes | no | n/?a | unset
            | not | is | was | undefined | empty | required | missing
            | \[?(?:redacted|masked|hidden|filtered|removed)\]?
            | (?:typing\.)?(?:str|int|bool|bytes|optional|union|secretstr|any)\b[\w\[\], .|]*"""
        ),
        number=re.compile(r"[+-]?\d{1,10}(?:[.,:/x-]\d+)*\s?[A-Za-z%]{0,3}"),
        path=re.compile(
            r"[~.]{0,2}/(?:[\w.@+-]{1,32}/)*[\w.@+-]+\.[a-z]{2,5}|~?/(?:\.?[a-z][\w.@-]{0,31}/){2,}[\w.@-]+"
        ),
        # source code shown in a traceback: the expression is no secret
        lookup=re.compile(
            r"(?:os|self|cls|args|cfg|config|conf|settings|kwargs|env|environ|opts|options|request|params"
            r"|getattr|get_?\w*|load_?\w*|read_?\w*|getpass\w*|fetch_?\w*|str|\w*[a-z]_args)[.(\[].*"
        ),
    )


def mask(text: str) -> str:
    """``text`` with its secrets replaced by ``***``, their prefix or name left for the reader. Idempotent.

    Known are provider tokens, private keys, JWTs, credentials in URLs, headers and connection
    strings, and the values of names such as ``HF_TOKEN``, ``--password`` or ``"api_key"``.
    """
    text = mask_shapes(text)
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return text
    patterns = _patterns()
    text = _mask_values(text, patterns.assigned, patterns)
    if "value" in lowered:
        text = _mask_values(text, patterns.listed, patterns)
    return _mask_values(text, patterns.spaced, patterns)


def _mask_values(text: str, names: re.Pattern[str], patterns: _Patterns) -> str:
    shown: list[str] = []
    done = 0
    for found in names.finditer(text):
        if found.start() < done:
            continue
        groups = found.groupdict()
        name = next(filter(None, groups.values()))
        kind = secret_kind(name)
        value = None if kind is None else patterns.value.match(text, found.end())
        if kind is None or value is None:
            continue
        quoted = value["quoted"] is not None
        group = "quoted" if quoted else "bare"
        # "token: …" may be a setting or a sentence
        word = groups.get("sign") == ":" and not groups["quote"] and name.replace(" ", "").isalpha()
        assigned = _Assigned(name, value[group], kind, quoted, word and not quoted)
        queried = text[found.start() - 1 : found.start()] in ("?", "&", ";")
        if _is_secret(assigned, patterns) if kind != "signature" else _is_signature(assigned, queried):
            shown += (text[done : value.start(group)], MASK)
            done = value.end(group)
    return "".join((*shown, text[done:])) if shown else text


class _Assigned(NamedTuple):
    name: str
    value: str
    kind: Kind
    quoted: bool
    prose: bool


def _is_signature(assigned: _Assigned, queried: bool) -> bool:
    """Whether this is what signs a URL or a request, not the signature of a function."""
    value = assigned.value
    return len(value) >= 16 and (queried or re.fullmatch("[0-9a-fA-F]{64}", value) is not None)


def _is_secret(assigned: _Assigned, patterns: _Patterns) -> bool:
    name, value, kind, quoted, prose = assigned
    if not value.strip() or patterns.harmless.fullmatch(value):
        return False
    if not quoted and (value == name or patterns.lookup.fullmatch(value)):
        return False
    if kind == "password":
        # fields called pwd hold the working directory
        return not (name.lower().endswith("pwd") and value[0] in "/~")
    if kind == "basic":
        # user and password in base64, as a container registry's configuration has them
        encoded = re.fullmatch("[A-Za-z0-9+/]{8,}={0,2}", value) is not None and len(value) % 4 == 0
        return quoted and encoded and any(c.isupper() or c.isdigit() for c in value)
    if len(value) < 3 or value[0] in "[({" or patterns.number.fullmatch(value):
        return False
    if kind == "key" and patterns.path.fullmatch(value):
        return False
    return not prose or _looks_random(value)


def _looks_random(value: str) -> bool:
    """Whether a word in running text is rather a token than a word of a sentence."""
    return len(value) >= 20 or (len(value) >= 8 and any(c.isdigit() for c in value))
