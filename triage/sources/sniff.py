"""Telling logs from everything else that lies about in a run's directory.

Only files that nobody named are judged: what the user names is read, whatever it looks like.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from triage.sources.constants import words
from triage.sources.inflate import compression_of
from triage.sources.utf16 import utf16_of


class Reason(NamedTuple):
    """Why files were skipped, as it reads after a number: of one, and of several."""

    one: str
    many: str


NOT_LOGS = Reason("file that is not a log", "files that are not logs")
ARCHIVES = Reason("archive (unpack it first)", "archives (unpack them first)")

_COMPRESSED = r"(?i)\.(?:gz|bz2|xz|zst)$"

_OTHER_SUFFIXES = words(
    # weights, optimizer states, data sets, indices
    "safetensors pt pth bin ckpt distcp onnx engine plan gguf ggml h5 hdf5 npy npz parquet arrow feather "
    "tfrecord tfrecords mdb idx db sqlite sqlite3 tflite pb model msgpack tiktoken "
    # sources, build products, caches of compilers
    "py pyc pyi pyx ipynb c cc cpp cxx cu cuh h hh hpp js mjs ts tsx css go rs java rb pl lua so a dylib "
    "dll exe jar class whl egg cubin fatbin ptx ttir ttgir llir sass hsaco sh bash zsh fish sbatch slurm ps1 "
    "cmake mk patch diff "
    # texts for people and settings for programs
    "md rst tex adoc html htm toml ini cfg conf yaml yml lock j2 jinja template "
    # media, profiles
    "png jpg jpeg gif bmp tif tiff webp svg ico pdf mp3 mp4 wav flac ogg avi mov mkv webm ttf woff woff2 "
    "qdrep nsys-rep ncu-rep swp"
)
_ARCHIVE_SUFFIXES = words("tar tgz tbz tbz2 txz zip 7z rar rpm deb")
_OTHER_NAMES = (
    r"(?i)(?:(?:generation_|adapter_|quantize_|preprocessor_|tokenizer_)?config\.json|tokenizer\.json"
    r"|(?:special_tokens_map|added_tokens|vocab|package|package-lock|tsconfig|dataset_info)\.json"
    r"|.*\.index\.json|.*\.trace\.json|merges\.txt|vocab\.txt|requirements.*\.txt|CMakeLists\.txt"
    r"|(?:LICEN[CS]E|NOTICE|README|CHANGELOG|AUTHORS|COPYING)(?:\.txt)?|Makefile|Dockerfile|Jenkinsfile|Pipfile"
    r"|.*\.tfevents\..*)"
)
_LOG_NAME = r"(?i)(?:\.(?:log|err|out|stderr|stdout)(?:\.\d+)?$|^(?:dmesg|messages|syslog)|rank[._-]?\d)"

_ARCHIVE_MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")
_OTHER_MAGIC = (
    b"\x7fELF", b"\xca\xfe\xba\xbe", b"MZ\x90\x00", b"!<arch>\n", b"\x89PNG\r\n", b"GIF8", b"\xff\xd8\xff",
    b"%PDF-", b"PAR1", b"ARROW1", b"\x89HDF\r\n", b"\x93NUMPY", b"SQLite format 3\x00", b"GGUF", b"\x00asm",
    b"wOF2", b"ID3",
)  # fmt: skip
_SAFETENSORS = rb'[\s\S]{3}[\x00-\x3f]\x00{4}\{"'

_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\x0c\x08\x07\x1b\x00"))
_MOST_CONTROL = 0.30
_MOST_NUL = 0.30


def refusal_by_name(name: str) -> Reason | None:
    """Why a file of this base name need not be opened to know that it is no log, else None."""
    plain = re.sub(_COMPRESSED, "", name)
    suffix = plain.rpartition(".")[2].lower() if "." in plain else ""
    if suffix in _ARCHIVE_SUFFIXES:
        return ARCHIVES
    if suffix in _OTHER_SUFFIXES or re.fullmatch(_OTHER_NAMES, plain):
        return NOT_LOGS
    return None


def refusal_by_content(name: str, head: bytes) -> Reason | None:
    """Why a file that begins with ``head``, decompressed, is no log, else None.

    Pickles pass: flight-recorder dumps are some. So do logs with holes of NUL bytes, which a
    crashed node leaves behind, when their name says log.
    """
    if head.startswith(_ARCHIVE_MAGIC) or head[257:262] == b"ustar":
        return ARCHIVES
    if head.startswith(_OTHER_MAGIC) or re.match(_SAFETENSORS, head):
        return NOT_LOGS
    if not head or is_pickle(head) or utf16_of(head) or compression_of(head) or re.search(_LOG_NAME, name):
        return None
    if head.count(0) > _MOST_NUL * len(head):
        return NOT_LOGS
    control = len(head) - len(head.translate(None, _CONTROL))
    undecodable = head.decode("utf-8", "replace").count("\ufffd")
    return NOT_LOGS if control + undecodable > _MOST_CONTROL * len(head) else None


def is_pickle(head: bytes) -> bool:
    """True for a binary pickle, protocols 2 to 5."""
    return len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5
