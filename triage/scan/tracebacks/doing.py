"""What a program was doing when an exception was raised, from the calls on the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from triage.scan.lazy import compiled
from triage.scan.tracebacks.model import Frame

Doing = Literal["checkpoint", "data-loading", "compile-or-graph-capture", "auth-or-hub"]

_NEAR = 8
"""How many calls from the innermost one on tell what was being done."""
_INNERMOST = 4
"""Compiled code runs below the compiler's wrappers: it is at fault where it raises itself."""
_CHECKPOINT = (
    r"(?<!activation)(?<!gradient)(?:^|_)(?:checkpoints?|checkpointing|ckpts?|state_dicts?|(?:save|load)_(?:states?|optimizer|model|pretrained))(?:_|$)"
    r"|^(?:save|load|resume|restore)\w*(?:checkpoint|ckpt|state_?dict|snapshot)|^_?(?:save|load)_to_state_dict$|^(?:load_from|save_to)_json$"
)
_CHECKPOINT_PATHS = (
    r"/torch/(?:serialization\.py|distributed/checkpoint/)|/safetensors/|/torchsnapshot/|/dist_checkpointing/"
    r"|/checkpoint(?:ing|er|s)?/|/\w*(?:checkpoint(?:ing|er|s|_\w+)?|ckpt\w*|_checkpoint)\.py$"
)
_RECOMPUTED = r"/torch/utils/checkpoint\.py$|activation_checkpoint|checkpoint_(?:activations|wrapper)|/tensor_parallel/random\.py$"
"""Activation checkpointing, which is a part of the forward pass."""
_WORK = r"^(?:forward|backward)$"
"""What is below it is the model's, whoever called for it."""
_ASKS = (
    r"^(?:__init__|__post_init__|model_post_init|<module>|command|parse_args|main)$|^_*(?:validate|verify)(?:_|$)"
    r"|^_*check_(?:\w*_)?(?:args?|arguments?|configs?|params?|settings?|options?)$|_validator$"
)
"""What is given to a constructor, or looked at by who checks it, is a setting; what is only imported does nothing yet."""
_DATA_PATHS = (
    r"/torch/utils/data/|/torchdata/|/nvidia/dali/"
    r"|/(?:datasets|webdataset|energon|streaming/(?:base|text|vision|multimodal))/(?:\w+/)*\w+\.py$"
)
_DATA = r"^(?:__getitems?__|collate_fn|_?collate\w*|_worker_loop|_try_get_data|_map_single)$"
_ABOUT_DATA = (
    r"(?i)/\w*(?:data|dataset|loader|corpus|corpora|sampler)\w*(?:/|\.py$)"
    r"|/(?:h5py|zarr|lmdb|tables|netCDF4|xarray|pyarrow|pandas|polars)/"
)
"""Where a library's own data sets lie: what else it lets be indexed, settings or tables, is no data set."""
_COMPILER_PATHS = (
    r"/torch/_inductor/|/torch/_dynamo/(?!eval_frame\.py|external_utils\.py)|/torch/_functorch/(?:aot|_aot)"
    r"|/triton/(?:compiler|backends)/|/triton/runtime/(?:jit|build|autotuner)\.py$|/torch/cuda/graphs\.py$"
    r"|/torch/utils/cpp_extension\.py$|/jit/(?:cpp_ext|core)\.py$"
    r"|/(?:torchinductor_[\w.-]+|inductor_cache|torch_compile_cache)/"  # what Inductor wrote
)
_PIPES = r"/multiprocessing/(?:queues|connection|resource_sharer|reduction|reductions|managers|context|popen_\w+)\.py$"
"""What carries things between processes, whatever they are."""
_INTERPRETER = r"^<frozen |/(?:os|collections/__init__|weakref|enum|typing|configparser)\.py$"
_HUB_PATHS = r"/huggingface_hub/|/modelscope/hub/|/transformers/utils/hub\.py$"


def activity(frames: Sequence[Frame]) -> Doing | None:
    """What the innermost calls of a stack belong to, None where they may be anything."""
    frames = [frame for frame in frames if compiled(_PIPES).search(frame.path) is None] or frames
    near = frames[-_NEAR:]
    innermost = frames[-_INNERMOST:]
    if any(compiled(_HUB_PATHS).search(f.path) for f in innermost):
        return "auth-or-hub"
    if any(compiled(_COMPILER_PATHS).search(f.path) for f in innermost):
        return "compile-or-graph-capture"
    for frame in reversed(near):
        if compiled(_WORK).search(frame.function) and "/torch/utils/" not in frame.path:
            return None
        if compiled(_ASKS).search(frame.function) or compiled(_INTERPRETER).search(frame.path):
            continue  # Python's own tables hold no samples
        if compiled(_RECOMPUTED).search(frame.path):
            return None
        if "/torch/nn/" in frame.path:
            continue  # modules are indexed as data sets are
        if compiled(_DATA_PATHS).search(frame.path) or (
            compiled(_DATA).search(frame.function)
            and (frame.kind == "user" or compiled(_ABOUT_DATA).search(frame.path))
        ):
            return "data-loading"
        if compiled(_CHECKPOINT_PATHS).search(frame.path) or compiled(_CHECKPOINT).search(frame.function):
            return "checkpoint"
    return None
