"""Finding sources, opening them and cutting them into blocks."""

from triage.sources.blocks import BlockReader, blocks, first_bytes, open_head
from triage.sources.constants import BLOCK_SIZE, CONTEXT, HEAD_SIZE, MAX_ENTRIES, MAX_FILES
from triage.sources.discovery import Argument, Discovery, discover
from triage.sources.jobs import group_jobs, job_id_of
from triage.sources.labels import Labels, labelled, labels_of

__all__ = [
    "BLOCK_SIZE",
    "CONTEXT",
    "HEAD_SIZE",
    "MAX_ENTRIES",
    "MAX_FILES",
    "Argument",
    "BlockReader",
    "Discovery",
    "Labels",
    "blocks",
    "discover",
    "first_bytes",
    "group_jobs",
    "job_id_of",
    "labelled",
    "labels_of",
    "open_head",
]
