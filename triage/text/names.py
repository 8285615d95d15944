"""Which names of settings, flags and fields stand for a secret, judged word by word."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["password", "token", "key", "basic", "signature"]
"""How freely a value of that name is masked: a password always, the others when it looks like one."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_PASSWORD_ENDS = ("password", "passwd", "passphrase", "secret")
_PASSWORDS = frozenset({"pwd", "passw", "secretkey"})
_PASS_OWNERS = _words("db database user smtp mail redis mysql pg proxy sudo ldap admin root http ftp")

_TOKENS = _words(
    "hftoken authtoken accesstoken apitoken usertoken bearertoken refreshtoken sessiontoken idtoken "
    "logintoken hubtoken githubtoken bottoken"
)
_TEXT_TOKENS = _words(
    "bos eos pad unk sep cls mask image audio video stop start end next new first last prev cached special "
    "prefix suffix middle fim think tool draft target input output prompt per each sub byte word max min num "
    "total avg decode prefill unexpected begin placeholder sampled accepted of invalid the a any no"
)
"""Words before ``token`` that speak of a unit of text."""

_KEYS = _words("apikey authkey accesskey privatekey accountkey sharedkey")
_KEY_OWNERS = _words(
    "api access secret private auth account encryption encrypt decrypt signing sign subscription license ssh "
    "deploy master storage service rsa tls ssl admin hmac jwt app application client session"
)
_PUBLIC_KEYS = _words(
    "primary foreign sort partition public cache store barrier dict state lookup hash group index map column "
    "registry object config param parameter weight tensor layer missing unexpected rendezvous rdzv "
    "dispatch kernel row entry host"
)
_CREDENTIALS = _words("credential credentials creds")


@lru_cache(maxsize=1024)
def secret_kind(name: str) -> Kind | None:
    """What ``name``, in any spelling (``HF_TOKEN``, ``--api-key``, ``clientSecret``), is a name of."""
    if len(name) > 256:
        name = name[-256:]
    words = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return None
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    # as environment variables are written: FERNET_KEY, CI_PASS
    environment = bool(before) and name.isupper() and "_" in name
    if last.endswith(_PASSWORD_ENDS) or (last in _PASSWORDS and name not in ("PWD", "OLDPWD")):
        return "password"
    if last in ("pass", "pat"):
        return "password" if environment or (last == "pass" and before in _PASS_OWNERS) else None
    if last == "token":
        return None if before in _TEXT_TOKENS else "token"
    if last in ("key", "keys"):
        return _key_kind(words, before, environment and last == "key")
    if last in _TOKENS:
        return "token"
    if last in _KEYS or last in _CREDENTIALS or words[-2:] == ["key", "data"] or "_auth" in name.lower()[-5:]:
        return "key"
    if words[-2:] == ["key", "base"] and "secret" in words:
        return "password"
    if last == "auth":
        return "key" if environment else "basic"
    return "signature" if last in ("sig", "signature") else None


def _key_kind(words: list[str], before: str, environment: bool) -> Kind | None:
    if "secret" in words:
        return "password"
    if before in _KEY_OWNERS:
        return "key"
    return "key" if environment and before not in _PUBLIC_KEYS else None


def is_secret_name(name: str) -> bool:
    """Whether a value that goes by ``name`` has to be kept from view."""
    return secret_kind(name) in ("password", "token", "key")
