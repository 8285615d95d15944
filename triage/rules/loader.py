"""Finding and loading rules: the built-in pack, installed packages, directories.

The built-in rules ship as one pack (JSON) inside the wheel, checked when it was built. Directories of
YAML are parsed once and kept as packs in the user's cache, keyed by content; a cache file is plain
data, so the worst that a corrupted one can do is to be thrown away.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from triage.errors import RuleError
from triage.rules.pack import NEEDS, Needs, Pack, packed, unpacked
from triage.rules.patterns import infer_anchors
from triage.rules.schema import ENGINE_VERSION, Rule, rule_from_mapping

BUILTIN = "triage"
ENTRY_POINTS = "triage.rules"
_PACKED = Path(__file__).parent / "_packed.json"
_CHECKOUT = Path(__file__).resolve().parents[2] / "rules"
_CACHE_FORMAT = 13
_SUFFIXES = (".yaml", ".yml")
_MAX_FILE = 4 << 20


class RuleSet(Mapping[str, Rule]):
    """Rules by id, built on first use. Later packs win by id; ``notes`` says which did.

    Args:
        own: what conclusions are told in that no line states. Its rules can be asked for by id, and are neither
            counted nor looked for in logs.
    """

    def __init__(self, packs: Sequence[Pack], own: Callable[[], Pack] | None = None) -> None:
        self._packs = packs
        self._fallback = own
        self._holders: dict[str, Pack] = {}
        self._built: dict[str, Rule] = {}
        self._needs: dict[str, Sequence[Needs]] = {}
        self._derived: tuple[str, ...] | None = None
        notes: list[str] = []
        for pack in packs:
            for rule_id in pack.places:
                previous = self._holders.get(rule_id)
                if previous is not None:
                    notes.append(f"rule {rule_id} from {pack.name} replaces the one from {previous.name}")
                self._holders[rule_id] = pack
        self.notes = tuple(notes)

    def __getitem__(self, rule_id: str) -> Rule:
        rule = self._built.get(rule_id)
        if rule is None:
            pack = self._holders.get(rule_id)
            if pack is None:
                if self._fallback is None:
                    raise KeyError(rule_id)
                pack = self._fallback()
            path, line, *_ = pack.places[rule_id]
            raw = pack.raw(rule_id)
            self._needs[rule_id] = raw.pop(NEEDS, ())
            rule = rule_from_mapping(raw, path, line, pack.name, check=False)
            self._built[rule_id] = rule
        return rule

    def needs(self, rule_id: str) -> Sequence[Needs]:
        """For each pattern of a rule sets of literals, of each of which every match has one."""
        _ = self[rule_id]
        return self._needs[rule_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._holders)

    def __len__(self) -> int:
        return len(self._holders)

    def anchors(self) -> dict[str, tuple[tuple[str, ...], bool]]:
        """``{literal: (rule ids, frequent)}``: what the scan looks for, without building rules."""
        if len(self._packs) == 1:
            return {anchor: (tuple(ids), every) for anchor, (_, every, ids) in self._packs[0].anchors.items()}
        found: dict[str, tuple[tuple[str, ...], bool]] = {}
        for pack in self._packs:
            for literal, (_, sampled, ids) in pack.anchors.items():
                rule_ids = tuple(self._own(pack, ids))
                if not rule_ids:
                    continue
                before, every = found.get(literal, ((), True))
                # a literal is sampled only when all of its rules are content with samples
                found[literal] = (before + rule_ids, every and sampled)
        return found

    def _own(self, pack: Pack, ids: Iterable[str]) -> Iterator[str]:
        return (rule_id for rule_id in ids if self._holders[rule_id] is pack)

    def windows(self) -> dict[str, str]:
        """What the scan looks for in place of each anchor; see :mod:`triage.rules.windows`."""
        return {literal: entry[0] for pack in self._packs for literal, entry in pack.anchors.items()}

    def derived(self) -> tuple[str, ...]:
        """Ids of rules without a signature of their own: conditions on other findings; sorted."""
        if self._derived is None:
            self._derived = tuple(sorted(i for i, pack in self._holders.items() if pack.places[i][2]))
        return self._derived

    def origin(self, rule_id: str) -> str:
        """Where a rule came from, as ``pack: path:line``."""
        pack = self._holders[rule_id]
        path, line, *_ = pack.places[rule_id]
        return f"{pack.name}: {path}:{line}"


def load_rules(directories: Iterable[str | os.PathLike[str]] = (), *, builtin: bool = True) -> RuleSet:
    """All rules: built in, from installed packages, then from ``directories``, later ones winning.

    Without the ``builtin`` ones nothing of theirs is looked for; what is concluded is still told in their words.

    Raises:
        RuleError: naming file, line and what is wrong.
    """
    packs = [_builtin(), *_installed()] if builtin else []
    packs.extend(_directory(os.fspath(directory), Path(directory)) for directory in directories)
    return RuleSet(packs, None if builtin else cache(_builtin))


def parse_rule_files(root: Path) -> list[dict[str, Any]]:
    """The checked raw mappings of every rule below ``root``, in path order.

    Raises:
        RuleError: for the first thing that is wrong, duplicate ids within ``root`` included.
    """
    found: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for path in _rule_paths(root):
        name = path.relative_to(root.parent if root.is_dir() else path.parent).as_posix()
        for raw in parse_rule_text(_read(path), name):
            where = f"{name}:{raw['_line']}"
            if raw["id"] in seen:
                raise RuleError(
                    f"rule id {raw['id']!r} is already used at {seen[raw['id']]}", name, raw["_line"]
                )
            seen[raw["id"]] = where
            found.append(raw)
    return found


def parse_rule_text(text: str, path: str | None = None) -> list[dict[str, Any]]:
    """The checked raw mappings of the rules in one YAML text.

    A file is a mapping with ``engine`` and ``rules``, a list of rules, or one rule a document.

    Raises:
        RuleError: for the first thing that is wrong.
    """
    from triage.rules.yamlfile import parse

    found: list[dict[str, Any]] = []
    for document in parse(text, path):
        for data in _rules_of(document, path):
            rule = rule_from_mapping(data, path)
            signature = rule.signature
            anchors: tuple[str, ...] = ()
            if signature is not None and signature.reader is None:
                anchors = signature.anchors
                if not (signature.frequent and anchors):
                    anchors = infer_anchors(signature.patterns, anchors)
            found.append({**data, "_path": path, "_line": rule.line, "_anchors": list(anchors)})
    return found


def _rules_of(document: Any, path: str | None) -> list[Any]:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise RuleError("a rule file holds a mapping with 'rules', or a list of rules", path, 1)
    if "rules" not in document:
        return [document]
    line = getattr(document, "line", None)
    unknown = sorted(set(document) - {"engine", "rules"})
    if unknown:
        raise RuleError(f"unknown key {unknown[0]!r}; known: engine, rules", path, line)
    needed = document.get("engine", 1)
    if not isinstance(needed, int) or isinstance(needed, bool):
        raise RuleError(f"engine must be a whole number, not {needed!r}", path, line)
    if needed > ENGINE_VERSION:
        raise RuleError(
            f"needs rule engine {needed}, this triage has {ENGINE_VERSION}: upgrade triage", path, line
        )
    rules = document["rules"]
    if not isinstance(rules, list):
        raise RuleError("rules must be a list", path, line)
    return rules


def _rule_paths(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    return sorted(path for path in map(Path, _rule_files(root)) if path.is_file())


def _rule_files(root: Path) -> Iterator[str]:
    found = (os.path.join(at, name) for at, _, names in os.walk(root) for name in names)  # noqa: PTH118
    return (path for path in found if path.endswith(_SUFFIXES))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_FILE + 1)
        if len(data) > _MAX_FILE:
            raise RuleError(f"larger than {_MAX_FILE >> 20} MiB, which no rule file is", str(path))
        return data.decode("utf-8")
    except OSError as error:
        raise RuleError(f"can't read it: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        raise RuleError(f"not UTF-8 at byte {error.start}", str(path)) from None


def _builtin() -> Pack:
    try:
        data = _PACKED.read_bytes()
    except OSError:
        data = b""
    if not data and _CHECKOUT.is_dir() and (_CHECKOUT.parent / "pyproject.toml").is_file():
        return _kept(BUILTIN, _CHECKOUT, _stamped(_CHECKOUT))  # a checkout that was not built
    try:
        return unpacked(BUILTIN, data)
    except (ValueError, KeyError, TypeError):
        raise RuleError(
            "the built-in rules are missing from this installation: reinstall triage", str(_PACKED)
        ) from None


def _installed() -> list[Pack]:
    """Packs that installed packages offer through the ``triage.rules`` entry point.

    An entry point names a module or package; its directory (or its ``RULES`` path) holds the YAML.
    """
    if not _offered():
        return []
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    packs: list[Pack] = []
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda p: p.name):
        try:
            spec = find_spec(point.module)
        except ImportError as error:
            raise RuleError(f"rule pack {point.name!r} can't be imported: {error}") from None
        locations = list(spec.submodule_search_locations or []) if spec else []
        if not locations:
            raise RuleError(f"rule pack {point.name!r}: {point.module} is not an installed package")
        packs.append(_directory(point.name, Path(locations[0])))
    return packs


def _offered() -> bool:
    """Whether any installed package declares rules; importlib.metadata takes too long to be asked."""
    wanted = f"[{ENTRY_POINTS}]".encode()
    for place in sys.path:
        try:
            with os.scandir(place or ".") as entries:
                packages = [e.path for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for package in packages:
            try:
                with open(os.path.join(package, "entry_points.txt"), "rb") as stream:  # noqa: PTH118
                    if wanted in stream.read():
                        return True
            except OSError:
                continue
    return False


def _directory(name: str, root: Path) -> Pack:
    if not root.exists():
        raise RuleError("no such file or directory; --rules takes a directory of YAML files", str(root))
    paths = _rule_paths(root)
    if not paths:
        raise RuleError("holds no rule files (*.yaml)", str(root))
    content = hashlib.sha256()
    for path in paths:
        content.update(f"\0{path}\0".encode())
        try:
            content.update(path.read_bytes())
        except OSError as error:
            raise RuleError(f"can't read it: {error.strerror}", str(path)) from None
    return _kept(name, root, content.hexdigest())


def _stamped(root: Path) -> str:
    """What tells one state of a checkout's rules from another, without reading them all."""
    stamp = hashlib.sha256()
    for path in sorted(_rule_files(root)):
        try:
            status = os.stat(path)  # noqa: PTH116 - two hundred paths at every start
        except OSError as error:
            raise RuleError(f"can't read it: {error.strerror}", path) from None
        stamp.update(f"{path}\0{status.st_ino} {status.st_size} {status.st_mtime_ns}\0".encode())
    return stamp.hexdigest()


def _kept(name: str, root: Path, state: str) -> Pack:
    """The pack of the rules below ``root``, from the cache where it was kept in this ``state``."""
    key = hashlib.sha256(f"{_CACHE_FORMAT}.{ENGINE_VERSION}\0{root.resolve()}\0{state}".encode())
    cache = cache_directory() / f"rules-{key.hexdigest()[:40]}.json"
    kept = _read_cache(cache)
    if kept is not None:
        try:
            return unpacked(name, kept)
        except (ValueError, KeyError, TypeError):
            pass  # whoever wrote it: parsing again gives the right one
    data = packed(parse_rule_files(root))
    _write_cache(cache, data)
    return unpacked(name, data)


def cache_directory() -> Path:
    """Where parsed user rules are kept: ``$XDG_CACHE_HOME/triage``, private to the user."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "triage"


def _read_cache(path: Path) -> bytes | None:
    """What a cache file holds, None when it is missing, not ours, or not what was written."""
    try:
        with path.open("rb") as stream:
            if os.fstat(stream.fileno()).st_uid != os.getuid():
                return None
            checksum, _, body = stream.read().partition(b"\n")
    except OSError:
        return None
    return body if hashlib.sha256(body).hexdigest().encode() == checksum else None


def _write_cache(path: Path, body: bytes) -> None:
    """Keep parsed rules; a cache that can't be written only costs time."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        temporary.replace(path)
        for stale in sorted(path.parent.glob("rules-*.*"), key=lambda p: p.stat().st_mtime)[:-8]:
            stale.unlink(missing_ok=True)
    except OSError:
        return
