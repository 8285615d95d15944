"""Of which kind an exception is, by its name, its words and the place that raises it."""

from __future__ import annotations

from typing import NamedTuple

from triage.diagnosis.causes.sequels import OF_PEERS
from triage.diagnosis.words.missing import kind_of_file, weights
from triage.diagnosis.words.readers import of_a_field, of_place, of_reader, prepares_records
from triage.diagnosis.words.services import of_a_door, of_service
from triage.diagnosis.words.wording import kind_of_words, of_settings, refuses, unmistakable
from triage.scan.lazy import compiled

NEAR_FRAMES = 3
"""A library that complains so few frames below the user's call complains about what it was given."""
SLIPS = frozenset(
    [
        "AttributeError",
        "ImportError",
        "ModuleNotFoundError",
        "NameError",
        "SyntaxError",
        "TypeError",
        "UnboundLocalError",
    ]
)
"""Errors in what a program says, whatever it was doing."""
_SLIPS_OF_FORMS = frozenset(["AttributeError", "NameError", "SyntaxError", "TypeError", "UnboundLocalError"])
"""Where something is made of settings, an import that fails is that of a name among them."""
UNPACKING = (
    r"(?:not enough|too many) values to unpack\b|(?:max|min)\(\) (?:\w+ )?arg(?:ument)? is (?:an )?empty\b"
)
"""What Python says where a program takes apart what has another length than it thinks: its own slip too."""
OF_LOOKUPS = frozenset(["AttributeError", "IndexError", "KeyError", "StopIteration"])
MAX_KEY = 7
"""Words of which a key, or Python's own complaint about one, consists at most."""
_OF_FILES = frozenset(["BlockingIOError", "FileExistsError", "IOError", "OSError", "PermissionError"])
_A_DIRECTORY = ("IsADirectoryError", "[Errno 21] ")
"""A folder's name was given where a file's is wanted: nothing is wrong with the disk."""
_NOT_THERE = "[Errno 2] "
MISSING = frozenset(["FileNotFoundError", "NotADirectoryError"])
"""What a library did not find that the user's own call did not name."""
_WRITING = (
    r"\b(?:save\w*|imsave|imwrite|write\w*|dump|makedirs|mkdir|to_(?:csv|json|parquet|pickle|excel|hdf|file)|FileHandler)\("
    r"|\bopen\([^()]*(?:\([^()]*\)[^()]*)*,\s*(?:mode\s*=\s*)?['\"][rbt]?[wax]"
)
"""Calls by which a file is made."""
_MADE = r"(?i)\b(?:writ|sav|creat|output|export|overwrit)\w*"
"""What is said of files that are made."""
_SHARED = r": '/(?:psm|torch|sem|wnsm)_\w+'$"
"""How Python and torch call blocks of shared memory."""
_PIPES = r"/multiprocessing/(?:connection|queues|managers|reduction|resource_sharer)\.py$"
_PRINTS = r"\bprint\(|\bstd(?:out|err)\b|/logging/(?:__init__|handlers)\.py$|/tqdm/|/rich/"
"""Where what a program says leaves it."""
_LISTING = r"\b(?:listdir|scandir|iterdir)\("
_WRITERS = r"(?:save\w*|im(?:save|write)|write\w*|dump|makedirs|mkdir)$"
_NOT_OF_DISKS = frozenset([3, 9, 10, 25])
"""Numbers of errors that are about descriptors and processes: the program's own doing, whatever lies below."""
_NAMES = {
    "auth-or-hub": [
        "EntryNotFoundError", "FileMetadataError", "GatedRepoError", "HFValidationError", "HfHubHTTPError",
        "LocalEntryNotFoundError", "LocalTokenNotFoundError", "OfflineModeIsEnabled", "PermissionDeniedError",
        "RateLimitError", "RemoteEntryNotFoundError", "RepositoryNotFoundError", "RevisionNotFoundError",
    ],
    "checkpoint": ["CheckpointException", "CheckpointingException", "SafetensorError", "UnpicklingError"],
    "compile-or-graph-capture": [
        "BackendCompilerFailed", "CompilationError", "CppCompileError", "InductorError", "LoweringException",
        "NoValidChoicesError", "PTXASError", "SubprocException", "TorchDynamoException", "TorchRuntimeError",
    ],
    "config": ["ArgumentError", "ConfigAttributeError", "ConfigCompositionException", "ConfigError", "ConfigKeyError",
               "InterpolationKeyError", "MisconfigurationException", "MissingMandatoryValue", "ValidationError"],
    "data-loading": ["DatasetGenerationError", "DatasetNotFoundError", "DataFilesNotFoundError", "NonMatchingSplitsSizesError",
                     "ShufflerException", "UnidentifiedImageError"],
    "driver-or-version": ["DistributionNotFound", "PackageNotFoundError", "VersionConflict"],
    "gpu-oom": ["OutOfMemoryError"],
    "host-oom": ["MemoryError"],
    "numerics": ["FloatingPointError"],
}  # fmt: skip
"""Kinds of failure that an exception's name alone tells."""
KINDS = {name: kind for kind, names in _NAMES.items() for name in names}
_OF_ACCESS = r"(?:Auth|\w*(?:Authentication|Authorization|Credentials?|Unauthorized|Forbidden|AccessDenied))(?:Error|Exception)?$"
"""How clients of all services call it when they are not let in."""
_NOT_FINITE = (
    r"(?i)\b(?:loss|grad(?:ient)?s?|norm|logits?|weights?|activations?|(?:in|out)puts?|values?|tensors?|parameters?|coordinates?|positions?|energy|forces?|residuals?)\b.{0,60}"
    r"\b(?:nan|not[ -]finite|non-?finite|infinite|diverg\w+|exploded)\b|\b(?:nan|non-?finite) (?:loss|grad)"
    r"|\b(?:found|detected|unexpected result|contains?|encountered) (?:an? )?nans?\b|\bnans? (?:were |was )?(?:found|detected)\b"
)
_PARAMETER = r"['\"]\w+(?:\.\w+)+[._](?:weight|bias|qweight|qzeros|scales?|g_idx|weight_scale(?:_inv)?)['\"]"
"""A key that is the name of a model's parameter."""
_ENVIRONMENT = r"^<frozen os>$|/os\.py$"
"""Where Python looks up what ``os.environ`` is asked for."""
_SETTINGS_OF = r"/(?:configparser|configobj)\.py$|/omegaconf/"
"""What holds settings that were read from files."""
_FORMS = (
    r"/(?:hydra|omegaconf|jsonargparse|tyro|draccus|simple_parsing|fire|ml_collections|gin|click|typer|pydantic_settings|yacs|dynaconf"
    r"|environs|traitlets/config|absl/flags)/|/(?:argparse|configargparse|docopt|decouple)\.py$"
)
"""What reads settings and makes of them what a program asks for, and does nothing else."""
_OF_ANSWERS = r"\d+ validation errors? for \w*(?:Response|Reply|Chunk|Choice)(?!\w*(?:Config|Params|Settings|Args|Format))\w*"
"""What a program itself makes to be sent is no setting."""
_DEVICES = r"/(?:py|py3)?nvml\.py$|/pynvml\w*/|/amdsmi/|/nvitop/"
"""What asks the driver about the devices."""
_CHILDS = "_execute_child"
"""Where Python starts another program."""
_A_PROGRAM = r"No such file or directory: '[\w.+-]+'$"
"""Its name without a folder: it is looked for among what is installed."""
OUTER = r"\((?:[\w.]*\.)?(\w+)\)$"
"""Ray names what a task raised within its own exception's name."""


_A_MODEL = r"(?i)(?<![a-z])(?:models?|weights|checkpoints?|ckpts?|state[_ ]?dicts?|pretrained|tokenizers?|vocab\w*)(?![a-z])"
_A_SAMPLE = (
    r"(?i)(?<![a-z])(?:datasets?|data ?(?:files?|loaders?|path|root)|images?|videos?|audios?|samples?|labels?|annotations?|masks?|shards?"
    r"|records?|classes|splits?|manifests?|transcripts?|translations?)(?![a-z])"
)
"""What libraries look for, as they and their functions call it."""


class Place(NamedTuple):
    """Where an exception was raised."""

    path: str = ""
    function: str = ""
    kind: str | None = None
    """Whose code it is, by its path."""
    depth: int | None = None
    """How many frames below the innermost one of the user's."""
    code: str = ""
    """The line of the user's that called it."""
    worded: bool = False
    """Whether it was raised with a message in words."""

    @property
    def near(self) -> bool:
        """Whether a library complains to the user's own call."""
        return self.depth is not None and self.depth <= NEAR_FRAMES

    @property
    def knows_settings(self) -> bool:
        """Whether it is code that is told how to work, and does not only do it on what it is given."""
        return self.kind not in _BELOW and compiled(_OF_ARRAYS).search(self.path) is None

    @property
    def writes(self) -> bool:
        """Whether something was to be written there."""
        return (
            compiled(_WRITING).search(self.code) is not None
            or compiled(_WRITERS).match(self.function) is not None
        )


ELSEWHERE = Place()
_BELOW = frozenset(["torch", "stdlib", "frozen"])
"""Code that knows no settings: it complains of what it was given."""
_OF_ARRAYS = r"/(?:numpy|scipy|pandas|polars|networkx|einops|xarray|skimage|librosa|torchmetrics|statsmodels|shapely|numba|faiss)/"
"""So does what works on arrays and tables."""


def kind_of(
    name: str | None, message: str | None, doing: str | None = None, place: Place = ELSEWHERE
) -> str | None:
    """The category that an exception's name, words and surroundings tell; None where they tell none.

    Args:
        doing: what was being done, by the calls on the stack.
        place: where it was raised, as far as that is known.
    """
    whole, words = name or "", message or ""
    inner = compiled(OUTER).search(whole)
    short = inner[1] if inner else whole.rpartition(".")[2]
    if short == "OutOfMemoryError" and whole.startswith(("java.", "ray.")):
        return "gpu-oom" if inner else "host-oom"  # Ray's own is about the node's memory
    if short == "ValidationError" and compiled(_OF_ANSWERS).match(words) is not None:
        return "user-code"
    if short in KINDS:
        return KINDS[short]
    if compiled(_OF_ACCESS).match(short) is not None:
        return "auth-or-hub"
    if short == "UnicodeDecodeError" and compiled(_DEVICES).search(place.path) is not None:
        return "driver-or-version"  # the driver answers in another way than is known
    if short == "RuntimeError" and words.startswith(_NOT_THERE):
        short = "FileNotFoundError"  # compiled readers have one name for all
    if short in SLIPS or short in OF_LOOKUPS:
        words = words.partition("\n")[0]  # what stands below was printed by the program
    if compiled(_NOT_FINITE).search(words):
        return "numerics"
    if short in {"ImportError", "ModuleNotFoundError"}:
        return "driver-or-version"
    if short not in _SLIPS_OF_FORMS and compiled(_FORMS).search(place.path) is not None:
        return "config"
    if short == "KeyError" and place.function == "__getitem__" and compiled(_ENVIRONMENT).search(place.path):
        return "config"  # a variable that is not set
    if short == "KeyError" and compiled(_SETTINGS_OF).search(place.path) is not None:
        return "config"  # what holds the settings has not got this one
    if place.function == _CHILDS and compiled(_A_PROGRAM).search(words) is not None:
        return "driver-or-version"  # a program that is not installed here
    served = of_service(whole, words, place.path)
    if served is not None and served != "user-code":
        return (unmistakable(words) if served == "network-config" else None) or served
    if (
        place.kind == "library"
        and short not in SLIPS
        and short not in OF_LOOKUPS
        and of_a_door(words, place.path)
    ):
        return unmistakable(words) or "auth-or-hub"
    read = None
    if doing in {None, "data-loading"}:
        read = of_reader(whole, place.code)
        if read is None and not words.startswith("[Errno "):
            read = of_place(short, place.path, place.function, place.code)
        if read is None and short == "ValueError" and of_a_field(words, place.code):
            read = "data-loading"
    if read is not None:
        return unmistakable(words) or read
    if short == "KeyError" and place is ELSEWHERE and compiled(_PARAMETER).fullmatch(words):
        return "checkpoint"
    if short in OF_LOOKUPS and len(words.split()) <= MAX_KEY and not place.worded:
        words = ""  # the key or the index, or what Python says of it
    if compiled(UNPACKING).match(words):
        return doing if doing == "compile-or-graph-capture" else None
    own = place.kind == "user"
    refused = own and short not in SLIPS and refuses(place.code)
    said = kind_of_words(
        words, place.path, place.function, None if short in SLIPS else doing,
        settings=place.knows_settings and short not in SLIPS, users=own and not refused,
    )  # fmt: skip
    if served is not None and said not in {"auth-or-hub", "config"}:
        return served
    demanded = said in {None, "user-code"} or (said == "config" and not of_settings(words))
    if demanded and place.worded and place.kind == "library" and prepares_records(place.path, place.function):
        return "data-loading"
    if refused and said is None and compiled(_MADE).search(words) is None:
        said = kind_of_file(words)  # what it says of a file is about that file
    if short == "KeyError" and said is None and place.worded and place.kind == "library":
        return "config"  # a name that a library does not know, and says so
    if short in OF_PEERS and compiled(_PIPES).search(place.path) is not None:
        return doing if doing == "data-loading" else None  # a process of this node is gone, whoever it was
    if short == "BrokenPipeError" and (
        compiled(_PRINTS).search(place.code if place.kind == "user" else place.path) is not None
    ):
        return None  # who read what the program prints has left
    if short in OF_PEERS and said != "auth-or-hub":
        return "network-config"
    if short == "FileExistsError" and not words.startswith("[Errno "):
        # a program that overwrites nothing unasked
        return said if said in {"checkpoint", "data-loading"} else "config"
    if words.startswith("[Errno -"):
        return kind_of_file(words) or said  # a library numbers its errors so, no system does
    if short == "PermissionError" and not words.startswith("[Errno ") and said is None:
        return "auth-or-hub"  # a program that says who may not
    number = compiled(r"\[Errno (\d+)\]").match(words)
    if number is not None and int(number[1]) in _NOT_OF_DISKS:
        return said if said in {"checkpoint", "data-loading"} else None
    if _A_DIRECTORY[0] == short or words.startswith(_A_DIRECTORY[1]):
        return said if said in {"checkpoint", "data-loading"} else "config"
    if short in _OF_FILES and number is None and compiled(_PIPES).search(place.path) is not None:
        return None  # the other end of a pipe between processes is gone
    if short in _OF_FILES and (said in {"user-code", None} or words.startswith("[Errno ")):
        return said if said in {"checkpoint", "data-loading"} else "storage"
    if short in MISSING and compiled(_SHARED).search(words):
        return "data-loading"  # what one process of a loader hands another
    if short in MISSING and weights(words):
        return "checkpoint"
    if short in MISSING and (place.writes or compiled(_LISTING).search(place.code) is not None):
        return "storage"
    if short in MISSING and (known := kind_of_file(words)) is not None:
        return known
    if (
        short in MISSING
        and place.kind == "library"
        and said in {None, "user-code"}
        and not words.startswith("[Errno ")
    ):
        return _kind_of_missing(words, place)
    if short in MISSING and (said == "user-code" or (said == "config" and words.startswith("[Errno "))):
        return None
    return said


def _kind_of_missing(words: str, place: Place) -> str:
    """The kind of failure that it is where a library says itself that something which it was told of is not there."""
    about = f"{words} {place.function}"
    if compiled(_A_MODEL).search(about) is not None:
        return "checkpoint"
    return "data-loading" if compiled(_A_SAMPLE).search(about) is not None else "config"
