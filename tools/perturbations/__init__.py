"""Changes of labelled logs that must not change the answer; each module holds the kinds of one sort."""

from perturbations import cuts, figures, forms, names, prefixes, ranks, streams
from perturbations.job import Job, folded, kind, load

KINDS = kind.kinds

__all__ = [
    "KINDS",
    "Job",
    "cuts",
    "figures",
    "folded",
    "forms",
    "load",
    "names",
    "prefixes",
    "ranks",
    "streams",
]
