"""What is raised by those who only read: of which kind a failure is by the format that they read, and by whose file it was.

Most of them are compiled, so that their exceptions seem to be raised by the program that called them, in words that
speak of bytes and headers; the module that stands in an exception's name says whose it is.
"""

from __future__ import annotations

from triage.diagnosis.words.missing import kind_of_file
from triage.scan.lazy import compiled

_OF_RECORDS = frozenset(
    """
    _csv _lzma av avro binascii blosc brotli bz2 csv cramjam decord fastavro fitsio gzip h5netcdf h5py imageio lmdb lxml lz4
    lzma msgpack nibabel numcodecs orjson pandas pdf2image PIL polars pyarrow pydicom pysam rasterio rdkit simdjson snappy
    soundfile tarfile tifffile torchcodec ujson webdataset xml zarr zipfile zlib zstandard zstd
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
"""Packages that read records, images, sounds and archives, and do nothing else."""
_OF_FORMS = frozenset(
    [
        "configobj",
        "configparser",
        "hjson",
        "hocon",
        "pyhocon",
        "ruamel",
        "toml",
        "tomli",
        "tomlkit",
        "tomllib",
        "yaml",
    ]
)
"""Packages that read what people write to say how to run."""
_NO_ROOM = {"DiskError": "storage", "MapFullError": "config"}
"""Where what was written found no room: on the disk, or in what the program had asked for."""
_OF_CALLS = (
    r"(?:Read[Oo]nly\w*|Bad(?:Txn|Dbi)\w*|ReadersFull\w*|InvalidParameter\w*|UnsupportedOperation|StreamError|InvalidIndexError"
    r"|\w*Warning)$"
)
"""What is raised of calls out of order, whatever lies in the file."""
OF_TEXT = frozenset(["EmptyDataError", "JSONDecodeError", "ParserError", "UnicodeDecodeError"])
"""What readers raise on a text that is not what it is taken for."""
_READS = r"\bopen\(|\bread\w*\(|\bloads?\(|\bdecode\(|\b(?:lines?|rows?|records?|docs?|samples?)\b"
"""How a program's own line reads records."""
_ANSWERS = r"\.json\(|\b(?:resp(?:onse)?|reply|answer|body|completion|generat\w+|output|urlopen)\b"
"""What somebody has sent: of that nothing is told by who reads it."""
_SETTINGS = r"(?i)(?:^|_)(?:config\w*|conf|cfg|args|arguments|settings|options|params|h?params|yaml|launch|argv)(?:_|$)"
_INTO_SETTINGS = r"(?i)(?:self\.)?_?(?:conf(?:ig)?s?|cfgs?|args|settings|options|h?params)\s*="
"""What a program's own line puts what it reads into."""
_RECORDS = (
    r"(?i)(?:^|_)(?:data|datasets?|dataloaders?|corpus|samples?|annotations?|records?|jsonl|manifest)(?:_|$)"
)


_READING = (
    r"/numpy/(?:lib/(?:_npyio_impl|npyio|_format_impl|format)|_?core/memmap)\.py$|/scipy/(?:io/|sparse/_matrix_io\.py$)|/(?:pandas|skimage|torchvision)/io/"
    r"|/torchaudio/_?backend/|/librosa/core/audio\.py$|/sklearn/datasets/|/networkx/readwrite/|/nibabel/|/pydicom/|/netCDF4/|/xarray/backends/"
)
"""Where libraries for other work read files."""
_RECORD_READERS = (
    r"_*(?:read|decode|parse|load)_(?:\w*_)?(?:annotations?|audios?|cif|clips?|coord(?:inate)?s|csv|extxyz|fasta|fastq|frames?|geometr(?:y|ies)"
    r"|graphs?|images?|jsonl|lmdb|manifests?|mmcif|mol(?:ecule)?s?|parquet|pdb|records?|rows?|samples?|shards?|structures?|tfrecords?"
    r"|traj(?:ector(?:y|ies))?|tsv|videos?|waveforms?|xyz)(?:_raw|_files?|_batch)?$"
)
"""What functions are called that read records, whatever library they are of."""
_OF_DATA = (
    r"/(?:data|datasets?|dataloaders?|data_loaders?|data_utils|input_pipelines?|dataloading|preprocessing)/"
    r"|/\w*(?:datasets?|data_?loaders?|data_?utils|data_?modules?|data_process\w*|sft_processing|preprocessors?)\.py$"
)
"""Where programs keep what prepares their data."""
_OF_ONE_RECORD = (
    r"_*(?:tokenize|encode|normali[sz]e|(?:pre)?process|convert|build|validate|format|render|extract|check|parse)_(?:\w+_)?"
    r"(?:annotations?|audios?|conversations?|dialog(?:ue)?s?|documents?|examples?|images?|messages|prompts?|records?|rows?|samples?"
    r"|turns?|videos?)$"
)
"""What functions are called that make of one record what a model learns from."""
_WRITERS = r"_?(?:save|write|to_|check_parent|_savez|dump|imsave|imwrite)"
_UNPACKS = r"\b(?:decompress\w*|frombuffer|fromfile|imdecode|unpackb|deserialize|decode_(?:image|jpeg|png|video|audio|raw))\("
_NO_NUMBER = r"could not convert string to float: |invalid literal for int\(\) with base \d+: "
_A_FIELD = (
    r"(?i)\b(?:rows?|recs?|records?|lines?|fields?|cols?|columns?|cells?|parts|toks|samples?|entry|entries|csv|labels?)\b"
    r"|\.r?split\("
)
_A_SETTING = r"(?i)environ|getenv|argv|\binput\(|\b(?:args|cfg|conf(?:ig)?|opts?|options|settings|params|hparams|flags)\b"
_PLAIN = frozenset(["EOFError", "OSError", "RuntimeError", "ValueError"])
"""What libraries raise of anything."""


def reads_files(path: str, function: str) -> bool:
    """Whether ``function`` in the file ``path`` is where a library for other work reads files."""
    return compiled(_READING).search(path) is not None and compiled(_WRITERS).match(function) is None


def prepares_records(path: str, function: str) -> bool:
    """Whether ``function`` in the file ``path`` takes one record of the data after another: what it refuses stands in them."""
    return (
        compiled(_OF_DATA).search(path) is not None and compiled(_OF_ONE_RECORD).match(function) is not None
    )


def of_place(short: str, path: str, function: str, code: str) -> str | None:
    """The kind of failure that it is by where a plain exception was raised: in what reads files, or by a call that unpacks bytes.

    Args:
        code: the line of the user's that raised it, or that called who did.
    """
    if short not in _PLAIN:
        return None
    reads = reads_files(path, function) or compiled(_RECORD_READERS).match(function) is not None
    unpacks = compiled(_UNPACKS).search(code) is not None and "raise " not in code
    return (kind_of_file(code) or "data-loading") if reads or unpacks else None


def of_a_field(words: str, code: str) -> bool:
    """Whether Python could make no number of a field of a record, by the program's own line ``code``."""
    return (
        compiled(_NO_NUMBER).match(words) is not None
        and compiled(_A_FIELD).search(code) is not None
        and compiled(_A_SETTING).search(code) is None
    )


def of_reader(whole: str, code: str) -> str | None:
    """The kind of failure that the full name of an exception tells, by the package that it is of; None where it is of none.

    Args:
        code: the program's own line that called it.
    """
    package, _, short = whole.partition(".")
    short = short.rpartition(".")[2]
    if not short or package not in _OF_RECORDS or compiled(_OF_CALLS).match(short):
        return None
    if short in _NO_ROOM:
        return _NO_ROOM[short]
    if short.endswith("MemoryError"):
        return "host-oom"
    named = kind_of_file(code)
    return "data-loading" if named is None else named


def of_text(whole: str, code: str, function: str) -> str | None:
    """The kind of failure that it is when a text cannot be read, by who reads which one; None where that is not told.

    Args:
        function: the program's own function that reads it.
    """
    package, short = whole.partition(".")[0], whole.rpartition(".")[2]
    forms = package in _OF_FORMS and short.endswith(("Error", "Exception"))
    if not forms and short not in OF_TEXT:
        return None
    named = kind_of_file(code)
    if named is not None:
        return named
    if compiled(_RECORDS).search(function):
        return "data-loading"
    if forms or compiled(_SETTINGS).search(function) or compiled(_INTO_SETTINGS).match(code.strip()):
        return "config"
    if short == "UnicodeDecodeError":
        return "data-loading"  # no program writes bytes that it cannot read
    reads = compiled(_READS).search(code) is not None and compiled(_ANSWERS).search(code) is None
    return "data-loading" if reads else None
