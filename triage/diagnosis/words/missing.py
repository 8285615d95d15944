"""Of what kind a file is that is not there, by its name: nobody else says what it was wanted for."""

from __future__ import annotations

from triage.scan.lazy import compiled

_END = r"(?=['\"\s,;:)\]]|\.?(?:\s|$))(?!['\"] -> )"
"""What stands behind a name; of a file that is to be renamed, the name says nothing."""
_PATH = r"[^\s'\"]*"
_WEIGHTS = (
    r"(?i)\.(?:safetensors(?:\.index\.json)?|ckpt|pth?|gguf|distcp|metadata|onnx|engine|joblib|pdparams|keras)"
    + _END
    + rf"|(?<![\w.-])(?:pytorch|adapter|diffusion)\w*_model{_PATH}\.bin"
    + _END
)
"""What a model is read from."""
_SETTINGS = (
    r"(?i)\.(?:ya?ml|toml|ini|cfg|conf)"
    + _END
    + r"|(?:conf(?:ig)?s?|cfg|args|params|settings|deepspeed|zero\d?|(?<![a-z])ds)[\w.-]*\.json"
    + _END
    + rf"|(?:^|[/'\"])conf(?:ig)?s?/{_PATH}\.json"
    + _END
)
"""What says how to run."""
_PROGRAMS = r"(?i)\.(?:py[xi]?|ipynb|(?:ba)?sh|cpp|cuh?|jl|lua)" + _END
"""What is run: it is elsewhere than the launch or an import says."""
_TRAINED = (
    rf"(?i)(?<![a-z])(?:checkpoints?|ckpts?|weights|pretrained)(?![a-z]){_PATH}\.(?:bin|pkl|pickle|json|txt|h5|npz)"
    + _END
)
"""What lies beside a model's weights, whatever its form."""
_DATA = (
    r"(?i)\.(?:idx|jsonl(?:\.\w+)?|parquet|arrow|feather|tfrecords?|rec|mds|lmdb|h5(?:ad)?|hdf5|csv|tsv|txt|lst|pkl|pickle"
    r"|jpe?g|png|tiff?|bmp|wav|flac|mp[34]|avi|tar|tgz|zip|np[yz]|mat|nii|xml|edf|nc|zarr|fasta|fa|pdb|tsp)(?:\.gz)?"
    + _END
)
"""What data is read from."""
_DATA_NAME = (
    r"(?i)(?<!['\"])[/_.-](?:data(?:sets?)?|(?:train|val|test)\d{4}|manifests?|annotations?|corp(?:us|ora)|shards?|splits?)"
    r"(?=[/_'\".-])"
)
"""What is data by a part of its name; ``/data`` at the root is a place where anything lies."""


_TENSORS = (
    r"(?i)/(?:(?:shards?|splits?|samples?|features?|latents?|tokens?|embeddings?)/[^/'\"]*"
    r"|(?:train|val(?:id)?|test|part|shard|chunk|split|sample|batch|tokens?|feat\w*)[_-]?\d+)\.pth?" + _END
)
"""Data that was saved as tensors, by its folder or its number."""
_OF_MODELS = r"(?i)ckpt|checkpoint|weights|model|optim|lora|adapter|state|epoch|step|iter"


def weights(words: str) -> bool:
    """Whether the file that ``words`` speak of is one of a model."""
    if compiled(_TENSORS).search(words) and compiled(_OF_MODELS).search(words) is None:
        return False
    return compiled(_WEIGHTS).search(words) is not None or compiled(_TRAINED).search(words) is not None


def kind_of_file(words: str) -> str | None:
    """The kind of failure that it is if the file is missing of which ``words`` speak; None where its name tells none."""
    if weights(words):
        return "checkpoint"
    if compiled(_SETTINGS).search(words) or compiled(_PROGRAMS).search(words):
        return "config"
    data = any(compiled(pattern).search(words) for pattern in (_DATA, _DATA_NAME, _TENSORS))
    return "data-loading" if data else None
