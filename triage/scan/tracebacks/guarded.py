"""Whether a traceback goes through what a program does on its main process alone.

The wrappers of libraries, as mmengine's ``master_only`` and Lightning's ``rank_zero_only``, call what they wrap on no other
rank; a condition before a statement on one line shows with the frame. What such a call raises, the main process raised.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from triage.scan.lazy import compiled
from triage.scan.tracebacks.model import Frame

MainProcess = Literal["job", "node"]
"""Of which processes it is the first: of all, or of those of its node."""

_TRACKERS = r"/(?:wandb|mlflow|comet_ml|neptune|clearml|swanlab|tensorboard\w*|trackio|aim|dvclive)/"
"""Packages that keep records of runs."""
_WRAPPERS = (
    (r"/mm(?:engine|cv)/(?:dist/utils|runner/dist_utils)\.py$", r"wrapper"),
    (r"/(?:lightning_utilities/core|pytorch_lightning/utilities|lightning(?:_lite|_fabric)?/(?:\w+/)*utilities)/(?:rank_zero|distributed)\.py$",
     r"wrapped_fn"),
)  # fmt: skip
"""Files and functions that call what they wrap on the first rank alone."""
_OWN_PARTS = (
    (r"/transformers/trainer\.py$", r"_save|_rotate_checkpoints|_push_from_checkpoint|create_model_card|init_hf_repo"),
    (r"/timm/utils/checkpoint_saver\.py$", r"save_checkpoint|save_recovery"),
    (r"/ultralytics/engine/trainer\.py$", r"save_model|plot_training_(?:samples|labels)"),
    (r"/ultralytics/utils/callbacks/(?!base)\w+\.py$", r"\w+"),
)  # fmt: skip
"""Files and functions that libraries call on the first rank alone."""
_CALLBACKS = r"/transformers/integrations(?:/integration_utils)?\.py$"
"""Transformers' callbacks, which speak to trackers where ``state.is_world_process_zero``."""
_IN_NAME = (
    r"(?:^|_)(?:on|only)_(?:the_)?(?:main(?:_process)?|master|rank_?(?:0|zero)|primary|chief)(?:_only)?$"
    r"|(?:^|_)(?:main_process|master|rank_?(?:0|zero)|primary)_only$"
)
"""Functions called after who runs what is in them: ``save_on_master``, ``rank_zero_only``."""
_ON_MAIN = r"\.on_(local_)?main_process\(\w+\)\("
"""How Accelerate's decorators call what they wrap; on other processes that is nothing."""
_MAIN = (
    r"is_(?:local_)?(?:main|master|root|chief|primary|first)(?:_process|_rank|_worker|_proc)?|is_(?:world|local)_process_zero"
    r"|is_(?:global|local|rank)_?(?:zero|0)|(?:main|master)_process"
)
_RANK = r"(?:(?:global|world|dist|my|proc|process|local|ddp)_?)?rank|process_(?:index|id)|get_(?:local_|global_|world_)?rank"
_CALL = r"(?:\([^()\n]{0,40}\))?"
_GUARD = (
    rf"(?:if|elif) (?:[^:#\n]{{1,80}} and )?(?:\w+\.)*(?:(?P<main>{_MAIN}){_CALL}|(?P<rank>{_RANK}){_CALL} ?== ?0)"
    r"(?: and [^:#\n]{1,80})?: *(?P<then>\S.*)"
)
"""A statement behind the condition that guards it, on one line."""


def main_process(frames: Sequence[Frame]) -> MainProcess | None:
    """Of which processes whoever raised through ``frames`` is the first, None where all might."""
    found: MainProcess | None = None
    for frame, inner in pairwise(frames):
        whose = _guarded(frame, inner)
        if whose == "job":
            return whose
        found = found or whose
    return found


def _guarded(frame: Frame, inner: Frame) -> MainProcess | None:
    code = frame.code or ""
    if any(
        compiled(path).search(frame.path) and compiled(name).fullmatch(frame.function)
        for path, name in (*_WRAPPERS, *_OWN_PARTS)
    ):
        return "job"
    if compiled(_CALLBACKS).search(frame.path) and compiled(_TRACKERS).search(inner.path):
        return "job"
    wrapped = compiled(_ON_MAIN).search(code) if "_main_process(" in code else None
    if wrapped is not None:
        return None if inner.path.endswith("/accelerate/state.py") else "node" if wrapped[1] else "job"
    if compiled(_IN_NAME).search(frame.function) and frame.kind == "user":
        return "job"
    guard = (
        compiled(_GUARD).match(code)
        if " 0" in code or "=0" in code or "is_" in code or "_process" in code
        else None
    )
    if guard is None or re.search(rf"\b{re.escape(inner.function)}\b", guard["then"]) is None:
        return None
    return "node" if "local" in (guard["main"] or guard["rank"]) else "job"
