"""Settings of NCCL that all ranks must share, as each rank's NCCL read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.oddities import deviant
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value
from triage.rules.fields import show
from triage.scan.lazy import compiled

SHARED = frozenset(
    f"NCCL_{name}"
    for name in (
        "ALGO", "ALLOC_P2P_NET_LL_BUFFERS", "BUFFSIZE", "CGA_CLUSTER_SIZE", "COLLNET_ENABLE", "CROSS_NIC", "CUMEM_ENABLE",
        "IB_DISABLE", "LL128_BUFFSIZE", "LL_BUFFSIZE", "LOCAL_REGISTER", "MAX_CTAS", "MAX_NCHANNELS", "MAX_NRINGS",
        "MIN_CTAS", "MIN_NCHANNELS", "MIN_NRINGS", "MNNVL_ENABLE", "NET", "NET_PLUGIN", "NET_SHARED_BUFFERS", "NSOCKS_PERTHREAD",
        "NTHREADS", "NVLS_ENABLE", "P2P_DISABLE", "P2P_LEVEL", "PROTO", "PXN_DISABLE", "SHM_DISABLE", "SOCKET_NTHREADS",
        "TREE_THRESHOLD", "WORK_FIFO_DEPTH",
    )
)  # fmt: skip
"""What the ranks of a communicator agree on without asking each other."""
_TROUBLE = ("collective-timeout", "peer-loss", "nccl-error-class")
_AS_USUAL = frozenset({"0", "-2", ""})
"""Values that most of these settings have when nobody sets them."""
_RELEASE = r"(?i)(?<![\w.])[a-z][\w-]{1,40}(?: version| release)?(?: |==?|: ?|-)v?\d{1,4}\.\d{1,4}\.\d{1,6}(?:[.+-]?\w+)*(?![\w.])"
"""The name of something and its release."""
FEWEST = 3
"""Ranks that must be known to tell the odd one."""


def differing(job: Job, ledger: Ledger) -> Iterator[Item]:
    """A rank whose NCCL was told otherwise than that of most others, in a job that hangs or did not begin."""
    trouble = ledger.waiting or any(job.of_tag(tag) for tag in _TROUBLE)
    if not trouble and (job.of_fact("progress") or job.of_fact("ended-well")):
        return
    said: dict[str, dict[int, Item]] = {}
    reporting: set[int] = set()
    for item in job.of_fact("env"):
        if item.rule.id != "nccl.environment" or item.rank is None:
            continue
        reporting.add(item.rank)
        name = item.text("name") or ""
        if name in SHARED:
            said.setdefault(name, {}).setdefault(item.rank, item)
    begun = {i.rank for i in job.of_fact("comm-init-complete")}
    if len(reporting) < FEWEST:
        yield from _one_of_two(job, ledger, said, reporting & begun)
        return
    for name, ranks in sorted(said.items()):
        # that a rank says nothing of a setting counts once its communicator stands: until then it is still reading
        known = [r for r in reporting if r in ranks or r in begun]
        if len(known) < FEWEST:
            continue
        values = Counter(ranks[r].text("value") if r in ranks else None for r in known)
        (usual, votes), *_ = values.most_common(1)
        odd = sorted(r for r in ranks if ranks[r].text("value") != usual)
        if len(values) < 2 or 2 * votes <= len(known) or not odd:
            continue
        fields: dict[str, Value] = {
            "ranks": tuple(odd), "name": name, "value": ranks[odd[0]].text("value"), "usual": usual or "not set"
        }  # fmt: skip
        others = [ranks[r] for r in sorted(ranks) if r not in odd]
        yield verdict(job, "ledger.settings-differ", fields, [ranks[odd[0]], *others[:1]], rank=odd[0])
        return


def _one_of_two(
    job: Job, ledger: Ledger, said: Mapping[str, Mapping[int, Item]], known: Collection[int | None]
) -> Iterator[Item]:
    """Of two ranks that both tell what they were told, and whose communicator stands, the one that was told more."""
    if len(known) != 2 or set(ledger.members) != known:
        return
    for name, ranks in sorted(said.items()):
        if len(ranks) == 1 and (item := next(iter(ranks.values()))).text("value") not in _AS_USUAL:
            fields: dict[str, Value] = {
                "ranks": (item.rank or 0,), "name": name, "value": item.text("value"), "usual": "not set"
            }  # fmt: skip
            yield verdict(job, "ledger.settings-differ", fields, [item], rank=item.rank)
            return


def started_otherwise(job: Job) -> Iterator[Item]:
    """A rank that waits alone at the rendezvous and stated another setting than all others."""
    waits = [i for i in job.of_fact("awaited") if i.rank is not None and i.ranks("absent") == (i.rank,)]
    odd = [i for i in job.of_fact("deviant") if waits and i.rank == waits[0].rank]
    if waits and odd:
        fields: dict[str, Value] = {"ranks": (odd[0].rank,), "words": odd[0].text("words")}
        yield verdict(job, "ledger.started-otherwise", fields, [odd[0], waits[0]], rank=odd[0].rank)


def other_layout(job: Job) -> Iterator[Item]:
    """A rank that stated other sizes of parallel groups than all others, where communication failed before any step."""
    odd = deviant(job, _LAYOUT)
    lost = [i for tag in (*TROUBLE, "nccl-error") for i in job.of_tag(tag)]
    if odd is None or not lost or job.of_fact("progress"):
        return
    fields: dict[str, Value] = {"ranks": (odd.rank,), "words": odd.text("words")}
    yield verdict(job, "ledger.layout-differs", fields, [odd, lost[0]], rank=odd.rank)


def out_of_step(job: Job, ledger: Ledger) -> Iterator[Item]:
    """A rank that said another number of a step than all others, where ranks wait or were lost and nobody failed by itself."""
    odd = [i for i in job.of_rule("progress.out-of-step") if i.rank is not None]
    lost = [wait.item for wait in ledger.waiting.values()] + list(ledger.bereft.values())
    if len(odd) != 1 or not lost:
        return
    fields: dict[str, Value] = {"ranks": (odd[0].rank,), "words": odd[0].text("words")}
    yield verdict(job, "ledger.out-of-step", fields, [odd[0], lost[0]], rank=odd[0].rank)


_LAYOUT = r"(?i)\b(?:(?:tensor|pipeline|data|context|sequence|expert|model)[ _-]?parallel|parallel size|device mesh)"
"""How the sizes of the groups of a job are stated."""


def other_release(job: Job) -> Iterator[Item]:
    """A rank that states another release of something than all others, and that alone raised an exception afterwards."""
    odd = [
        i for i in job.of_fact("deviant")
        if i.rank is not None and compiled(_RELEASE).search(i.text("words") or "") is not None
    ]  # fmt: skip
    raised = [i for i in job.of_fact("exception") if i.rank is not None]
    if len(odd) != 1 or not raised or {i.rank for i in raised} != {odd[0].rank}:
        return
    fields: dict[str, Value] = {
        "ranks": (odd[0].rank,),
        "words": odd[0].text("words"),
        "type": raised[0].text("type"),
    }
    yield verdict(job, "ledger.releases-differ", fields, [odd[0], raised[-1]], rank=odd[0].rank)


def other_nccl(job: Job) -> Iterator[Item]:
    """The fewer ranks that say that their NCCL is of another version, in a job whose communicators never came up."""
    if job.of_fact("progress") or job.of_fact("comm-init-complete") or not _unlike(job):
        return
    said: dict[int, Item] = {}
    for item in job.of_fact("version"):
        if item.rank is not None and item.fields.get("nccl") is not None:
            said.setdefault(item.rank, item)
    votes = Counter(item.fields["nccl"] for item in said.values())
    if len(said) < FEWEST or len(votes) < 2:
        return
    (usual, most), *_ = votes.most_common(1)
    odd = sorted(rank for rank, item in said.items() if item.fields["nccl"] != usual)
    if 2 * most > len(said):
        value = said[odd[0]].fields["nccl"]
        fields: dict[str, Value] = {
            "ranks": tuple(odd), "value": show(value, "version"), "usual": show(usual, "version"),
        }  # fmt: skip
        others = [said[rank] for rank in sorted(said) if rank not in odd]
        yield verdict(job, "ledger.nccl-differs", fields, [said[odd[0]], *others[:1]], rank=odd[0])


def _unlike(job: Job) -> bool:
    """Whether something was said that ranks of different releases say."""
    return any(
        item.rule.role == "cause"
        and (item.rule.category == "driver-or-version" or "nccl-error-class" in item.rule.tags)
        for item in job.items
    )


def other_worlds(job: Job) -> Iterator[Item]:
    """A rank that was started for another number of ranks than most others, in a job that never got to work."""
    if job.of_fact("progress"):
        return
    said: dict[int, Item] = {}
    for fact in ("world-size", "identity"):
        for item in job.of_fact(fact):
            rank = item.rank if item.rank is not None else item.number("rank")
            if rank is not None and item.number("world_size") is not None:
                said.setdefault(rank, item)
    sizes = Counter(item.number("world_size") for item in said.values())
    if len(said) < FEWEST or len(sizes) < 2:
        return
    (usual, votes), *_ = sizes.most_common(1)
    odd = sorted(rank for rank, item in said.items() if item.number("world_size") != usual)
    if 2 * votes > len(said):
        fields: dict[str, Value] = {
            "ranks": tuple(odd), "value": said[odd[0]].number("world_size"), "usual": usual
        }  # fmt: skip
        others = [said[r] for r in sorted(said) if r not in odd]
        yield verdict(job, "ledger.worlds-differ", fields, [said[odd[0]], *others[:1]], rank=odd[0])
