"""Dumps of PyTorch's flight recorder: one file per rank, pickle or JSON, written when a collective hangs.

Reading one dump gives a fact about its rank. Who hangs only shows when all dumps are side by side:
:func:`combine` gives the verdicts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from triage.model import Finding, Moment, Reading, Source, Value
from triage.readers.base import finding
from triage.readers.flight_recorder_analysis import GroupVerdict, Kind, Witness, analyse, judge
from triage.readers.flight_recorder_job import Recorded, assemble
from triage.readers.flight_recorder_model import Dump, Operation
from triage.readers.flight_recorder_parse import is_dump, parse_dump, rank_of_name
from triage.readers.flight_recorder_pickle import PickleRefused, load_plain

__all__ = ["Dump", "FlightRecorderReader", "FlightRecorderReading", "GroupVerdict", "analyse", "combine"]

KIND = "flight-recorder"
DUMP_RULE = "torch.fr-dump"
DUMP_MISSING_RULE = "torch.fr-dump-missing"
LEFT_OUT_RULE = "torch.fr-left-out"
RULES: dict[Kind, str] = {
    "missing": "torch.fr-missing-rank",
    "silent": "torch.fr-silent-rank",
    "lagging": "torch.fr-lagging",
    "all-inside": "torch.fr-all-inside",
    "operation-mismatch": "torch.fr-type-mismatch",
    "size-mismatch": "torch.fr-size-mismatch",
    "unmatched-message": "torch.fr-p2p-unmatched",
    "order": "torch.fr-order-mismatch",
    "extra": "torch.fr-extra-collective",
}

MAX_CAUSES = 3
MAX_GROUPS = 64
"""Groups that the fact about one dump lists."""

_KEYS = re.compile(rb"pg_config|pg_status|profiling_name|collective_seq_id")
_PICKLED_JSON = re.compile(rb'"(?:pg_config|profiling_name|pg_status)"\s*:')
_DUMP_NAME = re.compile(r"(?:trace_rank_?|_dump_|(?:^|[/\\])fr_?(?:rank_?)?)\d+$")


@dataclass(frozen=True, slots=True)
class FlightRecorderReading(Reading):
    """A reading that keeps the dump, for :func:`combine`; None when it could not be read."""

    dump: Dump | None = None
    source: Source | None = None
    index: int = 0


class FlightRecorderReader:
    """Reads the dump of one rank."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this a dump: JSON or a pickle with its keys, or a pickle under a dump's name?"""
        if head[:1] == b"\x80":
            return _KEYS.search(head) is not None or _DUMP_NAME.search(name) is not None
        if head[:1] in b"(c]}" and head and _DUMP_NAME.search(name):
            return True
        return _PICKLED_JSON.search(head) is not None

    def read(self, data: bytes, source: Source, index: int) -> FlightRecorderReading:
        """The dump of ``data``; what is no dump, or asks for more than plain data, becomes a note."""
        try:
            value, complete = _plain(data)
        except PickleRefused as error:
            return FlightRecorderReading(KIND, notes=(f"refused: {error}",), complete=False)
        except (ValueError, RecursionError) as error:
            reason = str(error).partition("\n")[0][:200]
            return FlightRecorderReading(KIND, notes=(f"not readable as JSON: {reason}",), complete=False)
        if not is_dump(value):
            note = "not a flight-recorder dump: none of its keys is there"
            return FlightRecorderReading(KIND, notes=(note,), complete=False)
        # the recorder names its files; a label may stem from a folder that is called after the failure
        rank = rank_of_name(source.path or source.name)
        rank = source.rank if rank is None else rank
        dump = parse_dump(value, source.name, rank, complete)
        notes: list[str] = []
        if not complete:
            notes.append(
                f"the dump is cut short; {len(dump.operations)} operations could be read, not the last ones"
            )
        if dump.rank is None:
            notes.append(
                "neither the file's name nor the groups tell which rank this dump is of, so it was left out; "
                "rename it to end in its rank"
            )
            complete = complete and all(operation.done for operation in dump.operations)
        return FlightRecorderReading(
            KIND, (_fact(dump, source, index),), tuple(notes), complete, dump, source, index
        )


def combine(readings: Sequence[Reading]) -> tuple[Finding, ...]:
    """The verdicts over all dumps among ``readings``, the most likely first cause first."""
    own = [r for r in readings if isinstance(r, FlightRecorderReading) and r.dump is not None]
    if not own:
        return ()
    job = assemble([reading.dump for reading in own if reading.dump is not None])
    by_name = {reading.dump.name: reading for reading in own if reading.dump is not None}
    by_rank = {rank: by_name[dump.name] for rank, dump in job.dumps.items()}
    anywhere = own[0]
    findings: list[Finding] = []
    for verdict in [verdict for verdict in judge(job) if verdict.cause][:MAX_CAUSES]:
        findings.append(_cause(job, verdict, by_rank, anywhere))
    if job.silent:
        findings.append(_context(DUMP_MISSING_RULE, anywhere, _missing_text(job), {
            "ranks": job.silent, "count": len(job.silent), "dumps": len(job.dumps),
            "world_size": len(job.world),
        }))  # fmt: skip
    for note in job.notes[:20]:
        findings.append(_context(LEFT_OUT_RULE, anywhere, note, {"note": note}))
    return tuple(findings)


def _plain(data: bytes) -> tuple[object, bool]:
    text = data.lstrip()
    if text[:1] in (b"{", b"[") or text[:3] == b"\xef\xbb\xbf":
        return json.loads(text.decode("utf-8-sig", "replace")), True
    pickled = load_plain(data)
    return pickled.value, pickled.complete


def _context(rule_id: str, reading: FlightRecorderReading, text: str, fields: dict[str, Value]) -> Finding:
    source = reading.source or Source(KIND)
    made = finding(rule_id, fields, source, reading.index, text)
    # it speaks of the job, not of the rank whose file it happens to stand in
    return Finding(rule_id, made.fields, made.evidence, made.source, made.offset)


def _missing_text(job: Recorded) -> str:
    shown = ", ".join(str(rank) for rank in job.silent[:32])
    return f"{len(job.dumps)} of {len(job.world)} ranks left a dump; none of rank {shown}"


def _fact(dump: Dump, source: Source, index: int) -> Finding:
    """Where this rank stood: what it is blocked in, else what it did last."""
    operation = next((op for op in dump.operations if not op.done), None) if dump.complete else None
    shown = operation or (dump.operations[-1] if dump.operations else None)
    group = dump.groups.get(shown.guid) if shown is not None else None
    progress = dump.progress.get(shown.guid) if shown is not None else None
    world = next((len(g.ranks) for g in dump.groups.values() if g.desc == "default_pg" and g.ranks), None)
    fields: dict[str, Value] = {
        "rank": dump.rank, "world_size": world, "recorder": dump.version or None,
        "nccl": dump.library or None, "operations": len(dump.operations), "wrapped": dump.wrapped,
        "blocked": operation is not None,
        "groups": tuple(
            (group.guid, group.desc, group.ranks, *_counters(dump, group.guid))
            for group in list(dump.groups.values())[:MAX_GROUPS]
        ),
    }  # fmt: skip
    if shown is not None and group is not None:
        fields.update(_about(shown), pg=group.guid, desc=group.desc or None, group_ranks=group.ranks or None)
    if progress is not None:
        fields.update(enqueued=progress.enqueued, started=progress.started, completed=progress.completed)
    who = "unknown rank" if dump.rank is None else f"rank {dump.rank}"
    text = f"{who}: {_sentence(shown, group.label if group else '')}"
    return finding(DUMP_RULE, fields, source, index, text, rank=dump.rank, time=_moment(shown))


def _counters(dump: Dump, guid: str) -> tuple[int | None, int | None, int | None]:
    progress = dump.progress.get(guid)
    return (
        (None, None, None) if progress is None else (progress.enqueued, progress.started, progress.completed)
    )


def _about(operation: Operation) -> dict[str, Value]:
    return {
        "op": operation.name, "seq": operation.batch if operation.p2p else operation.seq,
        "state": operation.state, "numel_in": operation.numel_in,
        "numel_out": operation.numel_out, "timeout": operation.timeout,
        "where": operation.where,
    }  # fmt: skip


def _cause(
    job: Recorded,
    verdict: GroupVerdict,
    by_rank: dict[int, FlightRecorderReading],
    anywhere: FlightRecorderReading,
) -> Finding:
    witnesses = (*verdict.culprits, *verdict.victims)
    reading = next((by_rank[w.rank] for w in witnesses if w.rank in by_rank), anywhere)
    source = reading.source or Source(KIND)
    stuck = verdict.operation
    fields: dict[str, Value] = {
        **_about(stuck),
        "rank": verdict.ranks[0] if len(verdict.ranks) == 1 else None, "ranks": verdict.ranks or None,
        "pg": verdict.group.guid, "desc": verdict.group.desc or None, "group": verdict.group.label,
        "group_ranks": verdict.group.ranks, "group_size": len(verdict.group.ranks),
        "waiting": verdict.waiting or None, "blocked": verdict.blocked,
        "how": verdict.how, "odd": verdict.odd, "rest": verdict.rest, "world_size": len(job.world),
        "waiting_where": next((w.operation.where for w in verdict.victims if w.operation is not None), None)
        or stuck.where,
        "gil": _holds_gil(job, verdict.ranks) or None,
    }  # fmt: skip
    last = next((w.operation for w in verdict.culprits if w.operation is not None), None)
    fields["where"] = last.where if last is not None else None
    # who waits for an answer may itself be the one that went astray: then nobody else is named
    peers = tuple(rank for rank in verdict.ranks if rank not in verdict.waiting)
    if peers:
        fields["peer"] = f"rank{'s' if len(peers) > 1 else ''} {', '.join(str(rank) for rank in peers)}"
        fields["peer_where"] = fields["where"]
    fields["last"] = _last(job, verdict, last) if verdict.ranks else None
    fields["what"] = _missed(verdict)
    counters = [_counters(job.dumps[rank], verdict.group.guid) for rank in verdict.ranks if rank in job.dumps]
    if counters and not stuck.p2p:
        fields.update(enqueued=counters[0][0], completed=counters[0][2])
    texts = tuple(_witness(job, w, verdict) for w in witnesses[:6])
    if verdict.finished and verdict.kind == "lagging":
        shown = ", ".join(str(rank) for rank in verdict.finished[:16])
        texts = (
            *texts,
            f"completed by rank {shown}: {stuck.name}, sequence {stuck.seq} of {verdict.group.label}",
        )
    made = finding(
        RULES[verdict.kind], fields, source, reading.index, texts or (verdict.how,), time=_moment(stuck),
        rank=verdict.ranks[0] if verdict.ranks else None, level="error",
    )  # fmt: skip
    if not verdict.ranks:
        return Finding(
            made.rule_id, made.fields, made.evidence, made.source, made.offset, time=made.time, level="error"
        )
    return made


def _missed(verdict: GroupVerdict) -> str:
    """What somebody did not reach. Ranks count their messages each for themselves, so those go by the other end."""
    stuck, label = verdict.operation, verdict.group.label
    if not stuck.p2p or not verdict.waiting:
        return f"{stuck.name} (sequence {stuck.seq}) of {label}"
    partner = "recv" if stuck.name == "send" else "send"
    return f"the {partner} in {label} that the {stuck.name} of rank {verdict.waiting[0]} needs"


def _last(job: Recorded, verdict: GroupVerdict, operation: Operation | None) -> str:
    who = "it has" if len(verdict.ranks) == 1 else "they have"
    if operation is None:
        return f"{who} nothing in flight"
    number = f"its batch {operation.batch}" if operation.p2p else f"sequence {operation.seq}"
    group = next((g for (guid, _), g in job.groups.items() if guid == operation.guid), None)
    if group is not None and operation.guid != verdict.group.guid:
        number += f" of {group.label}"
    if operation.done:
        who = "it" if len(verdict.ranks) == 1 else "they"
        return f"the last {who} enqueued is {operation.name} ({number}), which completed"
    return f"{'it is' if len(verdict.ranks) == 1 else 'they are'} blocked in {operation.name} ({number})"


def _holds_gil(job: Recorded, ranks: tuple[int, ...]) -> bool:
    """Could only these ranks not record Python stacks? Their interpreter was locked, then."""
    mine = [job.dumps[rank] for rank in ranks if rank in job.dumps]
    others = [dump for rank, dump in job.dumps.items() if rank not in ranks and dump.operations]
    return bool(mine) and not any(d.stacks for d in mine) and bool(others) and all(d.stacks for d in others)


def _witness(job: Recorded, witness: Witness, verdict: GroupVerdict) -> str:
    if witness.rank not in job.dumps:
        return f"rank {witness.rank}: left no dump"
    operation = witness.operation
    if operation is None:
        enqueued, _, completed = _counters(job.dumps[witness.rank], verdict.group.guid)
        counters = (
            "" if enqueued is None else f"; {verdict.group.label}: enqueued {enqueued}, completed {completed}"
        )
        return f"rank {witness.rank}: has nothing in flight{counters}"
    group = job.groups[job.keys[witness.rank, operation.guid]].label if operation is not None else ""
    return f"rank {witness.rank}: {_sentence(operation, group)}"


def _sentence(operation: Operation | None, group: str) -> str:
    if operation is None:
        return "recorded no operation"
    number = f"batch {operation.batch}" if operation.p2p else f"sequence {operation.seq}"
    since = _iso(operation.created)
    issued = f", issued at {operation.where}" if operation.where else ""
    if operation.done:
        state = f"completed, nothing after it; enqueued {since}"
    elif operation.state == "started":
        state = f"started, never completed; enqueued {since}"
    else:
        state = f"enqueued {since}, never completed"
    return f"{operation.name}, {number} of {group}, {operation.numel_in} elements, {state}{issued}"


def _iso(created: int | None) -> str:
    if created is None:
        return "at an unknown time"
    try:
        return datetime.fromtimestamp(created / 1e9, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


def _moment(operation: Operation | None) -> Moment | None:
    if operation is None or operation.created is None or not 0 < operation.created < 1 << 62:
        return None
    return Moment(operation.created / 1e9, "wall", zoned=True)
