"""Reads the pickle of a flight-recorder dump without running anything that it says.

A pickle is a program for a small stack machine, and a hostile one imports and calls what it likes.
This machine knows only the instructions that build plain data (dictionaries with text as keys, lists,
tuples, text, numbers); every other instruction is refused.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAX_BYTES = 256 * 1024 * 1024
MAX_INSTRUCTIONS = 20_000_000
"""A dump of 100,000 operations takes about ten million."""
MAX_CONTAINERS = 5_000_000

_IMPORTS = {0x63: "GLOBAL", 0x69: "INST", 0x93: "STACK_GLOBAL"}
_BUILDS = {
    0x52: "REDUCE", 0x62: "BUILD", 0x6F: "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x50: "PERSID",
    0x51: "BINPERSID", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}  # fmt: skip
_TEXT_KEYS = {str}

_uint16 = struct.Struct("<H").unpack_from
_int32 = struct.Struct("<i").unpack_from
_uint32 = struct.Struct("<I").unpack_from
_uint64 = struct.Struct("<Q").unpack_from
_double = struct.Struct(">d").unpack_from


class PickleRefused(ValueError):  # noqa: N818  (a state of the pickle, not a failure of this module)
    """The pickle asks for more than plain data, is damaged, or is too large. ``str()`` says which."""


class _Cut(Exception):  # noqa: N818
    """The bytes ended in the middle of the pickle."""


@dataclass(frozen=True, slots=True)
class PlainPickle:
    """What was read, and whether the pickle was whole.

    ``value`` consists of ``dict``, ``list``, ``tuple``, ``str``, ``int``, ``float``, ``bool`` and None,
    possibly nested without end or in circles: read it to a fixed depth only.
    """

    value: object
    complete: bool = True


def load_plain(data: bytes, max_instructions: int = MAX_INSTRUCTIONS) -> PlainPickle:
    """The plain value that ``data`` pickles; when it ends too early, what it held up to there.

    Raises:
        PickleRefused: when the pickle asks for more than plain data, is damaged, or exceeds the bounds.
    """
    if len(data) > MAX_BYTES:
        raise PickleRefused(f"it has {len(data)} bytes and a dump has at most {MAX_BYTES}")
    levels: list[list[object]] = [[]]
    try:
        return PlainPickle(_execute(data, levels, max_instructions))
    except _Cut:
        return PlainPickle(_unfinished(levels), complete=False)


def _execute(data: bytes, levels: list[list[object]], max_instructions: int) -> object:
    """Run the instructions. ``levels`` holds one stack per open mark, the outermost first."""
    # one long chain on purpose, the frequent instructions first: a full dump has 200,000 of them
    size, at, containers = len(data), 0, 0
    stack = levels[0]
    memo: dict[int, object] = {}
    try:
        for _ in range(max_instructions):
            code = data[at]
            at += 1
            if code == 0x68:  # BINGET
                stack.append(memo[data[at]])
                at += 1
            elif code == 0x71:  # BINPUT
                memo[data[at]] = stack[-1]
                at += 1
            elif code == 0x4B:  # BININT1
                stack.append(data[at])
                at += 1
            elif code == 0x28:  # MARK
                stack = []
                levels.append(stack)
            elif code == 0x5D or code == 0x7D:  # EMPTY_LIST, EMPTY_DICT
                containers += 1
                stack.append([] if code == 0x5D else {})
            elif code == 0x75:  # SETITEMS
                items = levels.pop()
                stack = levels[-1]
                _set_items(stack[-1], items, at)
            elif code == 0x61:  # APPEND
                item = stack.pop()
                _list(stack[-1], at).append(item)
            elif code == 0x6A:  # LONG_BINGET
                stack.append(memo[_uint32(data, at)[0]])
                at += 4
            elif code == 0x72:  # LONG_BINPUT
                memo[_uint32(data, at)[0]] = stack[-1]
                at += 4
            elif code == 0x58 or code == 0x8C or code == 0x8D:  # BINUNICODE, SHORT_, 8
                width = 4 if code == 0x58 else 1 if code == 0x8C else 8
                length = (
                    _uint32(data, at)[0] if width == 4 else data[at] if width == 1 else _uint64(data, at)[0]
                )
                at += width
                if length > size - at:
                    raise _Cut
                stack.append(data[at : at + length].decode("utf-8", "replace"))
                at += length
            elif code == 0x4D:  # BININT2
                stack.append(_uint16(data, at)[0])
                at += 2
            elif code == 0x4A:  # BININT
                stack.append(_int32(data, at)[0])
                at += 4
            elif code == 0x8A:  # LONG1
                length = data[at]
                if length > size - at - 1:
                    raise _Cut
                stack.append(int.from_bytes(data[at + 1 : at + 1 + length], "little", signed=True))
                at += 1 + length
            elif code == 0x4E:  # NONE
                stack.append(None)
            elif code == 0x88 or code == 0x89:  # NEWTRUE, NEWFALSE
                stack.append(code == 0x88)
            elif code == 0x94:  # MEMOIZE
                memo[len(memo)] = stack[-1]
            elif code == 0x65:  # APPENDS
                items = levels.pop()
                stack = levels[-1]
                _list(stack[-1], at).extend(items)
            elif code == 0x73:  # SETITEM
                items = stack[-2:]
                del stack[-2:]
                _set_items(stack[-1], items, at)
            elif code == 0x74:  # TUPLE
                containers += 1
                items = levels.pop()
                stack = levels[-1]
                stack.append(tuple(items))
            elif 0x85 <= code <= 0x87:  # TUPLE1, TUPLE2, TUPLE3
                containers += 1
                count = code - 0x84
                if len(stack) < count:
                    raise IndexError
                items = stack[-count:]
                del stack[-count:]
                stack.append(tuple(items))
            elif code == 0x29:  # EMPTY_TUPLE
                stack.append(())
            elif code == 0x47:  # BINFLOAT
                stack.append(_double(data, at)[0])
                at += 8
            elif code == 0x6C:  # LIST
                containers += 1
                items = levels.pop()
                stack = levels[-1]
                stack.append(items)
            elif code == 0x80 or code == 0x95:  # PROTO, FRAME
                at += 1 if code == 0x80 else 8
            elif code == 0x2E:  # STOP
                return stack[-1]
            else:
                raise PickleRefused(_refusal(data, at - 1, stack))
            if containers > MAX_CONTAINERS:
                raise PickleRefused(f"it holds more than {MAX_CONTAINERS} lists and dictionaries")
    except struct.error:
        raise _Cut from None
    except IndexError:
        if at >= size:
            raise _Cut from None
        raise PickleRefused(f"it is damaged at byte {at}") from None
    except KeyError:
        raise PickleRefused(f"it is damaged at byte {at}: it recalls a value it never stored") from None
    raise PickleRefused(f"it has more than {max_instructions} instructions")


def _list(target: object, at: int) -> list[object]:
    if type(target) is not list:
        raise PickleRefused(f"it is damaged at byte {at}: it appends to what is no list")
    return target


def _set_items(target: object, items: list[object], at: int) -> None:
    keys = items[::2]
    if type(target) is not dict or len(items) % 2:
        raise PickleRefused(f"it is damaged at byte {at}: it sets items of what is no dictionary")
    # hashing anything but text can be made slow, or overflow the C stack, by who writes the pickle
    if not _TEXT_KEYS.issuperset(map(type, keys)):
        raise PickleRefused(f"it has a dictionary key that is not text at byte {at}")
    target.update(zip(keys, items[1::2], strict=True))


def _refusal(data: bytes, at: int, stack: list[object]) -> str:
    code = data[at]
    plain = "a flight-recorder dump holds plain data only"
    if code in _IMPORTS:
        if code == 0x93:
            parts = [str(part) for part in stack[-2:] if isinstance(part, str)]
        else:
            lines = data[at + 1 : at + 1 + 400].split(b"\n", 2)[:2]
            parts = [line.decode("utf-8", "replace") for line in lines]
        name = ".".join(part[:80] for part in parts)
        shown = "".join(c if c.isprintable() else "?" for c in name) or "something"
        return f"the pickle asks to import {shown}; {plain}"
    if code in _BUILDS:
        return f"the pickle asks to call or construct something ({_BUILDS[code]}); {plain}"
    return f"byte {at} ({code:#04x}) is no instruction for plain data; {plain}"


def _unfinished(levels: list[list[object]]) -> object:
    """What the open containers held when the bytes ended, folded into the outermost one."""
    while len(levels) > 1:
        items = levels.pop()
        target = levels[-1][-1] if levels[-1] else None
        if type(target) is list:
            target.extend(items)
        elif type(target) is dict:
            pairs = zip(items[::2], items[1::2], strict=False)
            target.update((key, value) for key, value in pairs if type(key) is str)
    return levels[0][0] if levels and levels[0] else None
