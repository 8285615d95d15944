"""Loading rules: the built-in pack, installed packages, directories.

The built-in rules ship as one pack (JSON) inside the wheel, checked when it was built. Directories of
YAML are parsed once and kept as packs in the user's cache, keyed by content; a cache file is plain
data, so the worst that a corrupted one can do is to be thrown away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from mmap import ACCESS_READ, mmap

from triage.errors import RuleError
from triage.rules.files import keep, kept_as, read_kept, stamp
from triage.rules.pack import NEEDS, Anchors, Needs, Pack, packed, unpacked
from triage.rules.schema import ENGINE_VERSION, Rule, rule_from_mapping

BUILTIN = "triage"
ENTRY_POINTS = "triage.rules"
_PACKED = os.path.join(os.path.dirname(__file__), "_packed.json")
_CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_CACHE_FORMAT = 18


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
            for rule_id in pack.numbers:
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
            place = pack.place(rule_id)
            raw = pack.raw(rule_id)
            self._needs[rule_id] = raw.pop(NEEDS, ())
            rule = rule_from_mapping(raw, place.file, place.line, pack.name, check=False)
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

    def anchors(self) -> Anchors:
        """What the scan looks for, without building rules."""
        if len(self._packs) == 1:
            return self._packs[0].anchors
        found: dict[str, tuple[str, list[str], bool]] = {}
        for pack in self._packs:
            of_pack = pack.anchors
            for at, (literal, window, ids) in enumerate(zip(*of_pack[:3], strict=True)):
                own = [rule_id for rule_id in ids.split() if self._holders[rule_id] is pack]
                if own:
                    _, before, every = found.get(literal, ("", [], True))
                    # a literal is sampled only when all of its rules are content with samples
                    found[literal] = (window, before + own, every and at in of_pack.sampled)
        return Anchors(
            list(found),
            [window for window, _, _ in found.values()],
            [" ".join(ids) for _, ids, _ in found.values()],
            frozenset(at for at, (_, _, every) in enumerate(found.values()) if every),
        )

    def derived(self) -> tuple[str, ...]:
        """Ids of rules without a signature of their own: conditions on other findings; sorted."""
        if self._derived is None:
            self._derived = tuple(
                sorted(i for pack in self._packs for i in pack.derived if self._holders[i] is pack)
            )
        return self._derived

    def origin(self, rule_id: str) -> str:
        """Where a rule came from, as ``pack: path:line``."""
        pack = self._holders[rule_id]
        place = pack.place(rule_id)
        return f"{pack.name}: {place.file}:{place.line}"


def load_rules(directories: Iterable[str | os.PathLike[str]] = (), *, builtin: bool = True) -> RuleSet:
    """All rules: built in, from installed packages, then from ``directories``, later ones winning.

    Without the ``builtin`` ones nothing of theirs is looked for; what is concluded is still told in their words.

    Raises:
        RuleError: naming file, line and what is wrong.
    """
    packs = [_builtin(), *_installed()] if builtin else []
    packs.extend(_directory(os.fspath(directory)) for directory in directories)
    return RuleSet(packs, None if builtin else cache(_builtin))


def _builtin() -> Pack:
    data: bytes | mmap = b""
    try:
        with open(_PACKED, "rb") as stream:
            # of some megabytes a job needs the index and a few dozen rules: only these are read
            data = mmap(stream.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError):  # missing or empty
        pass
    rules = os.path.join(_CHECKOUT, "rules")
    if not data and os.path.isdir(rules) and os.path.isfile(os.path.join(_CHECKOUT, "pyproject.toml")):
        return _kept(BUILTIN, rules, stamp(rules))  # a checkout that was not built
    try:
        return unpacked(BUILTIN, data)
    except (ValueError, KeyError, TypeError):
        raise RuleError(
            "the built-in rules are missing from this installation: reinstall triage", _PACKED
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
        packs.append(_directory(locations[0], point.name))
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
                with open(os.path.join(package, "entry_points.txt"), "rb") as stream:
                    if wanted in stream.read():
                        return True
            except OSError:
                continue
    return False


def _directory(root: str, name: str | None = None) -> Pack:
    """The pack of a directory of YAML files, called ``name`` or what the directory is."""
    import hashlib
    from pathlib import Path

    from triage.rules.parsing import rule_paths

    if not os.path.exists(root):
        raise RuleError("no such file or directory; --rules takes a directory of YAML files", root)
    paths = rule_paths(Path(root))
    if not paths:
        raise RuleError("holds no rule files (*.yaml)", root)
    content = hashlib.sha256()
    for path in paths:
        content.update(f"\0{path}\0".encode())
        try:
            content.update(path.read_bytes())
        except OSError as error:
            raise RuleError(f"can't read it: {error.strerror}", str(path)) from None
    return _kept(name or root, root, content.hexdigest())


def _kept(name: str, root: str, state: str) -> Pack:
    """The pack of the rules below ``root``, from the cache where it was kept in this ``state``."""
    file = kept_as(f"{_CACHE_FORMAT}.{ENGINE_VERSION}\0{os.path.realpath(root)}\0{state}")
    kept = read_kept(file)
    if kept is not None:
        try:
            return unpacked(name, kept)
        except (ValueError, KeyError, TypeError):
            pass  # whoever wrote it: parsing again gives the right one
    from pathlib import Path

    from triage.rules.parsing import parse_rule_files

    data = packed(parse_rule_files(Path(root)))
    keep(file, data)
    return unpacked(name, data)
