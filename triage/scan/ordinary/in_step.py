"""Who says another number of a step than all others, where all had said the same of every step before.

``epoch 5 leader 0`` of one rank and ``epoch 5 leader 1`` of the others: from there on they are in different calls.
Losses and times differ from rank to rank at every step, and tell nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from triage.scan.lazy import compiled
from triage.scan.ordinary.said import NUMBER, Said

FEWEST = 3
"""Writers that must tell of a step."""
AGREED = 2
"""Steps of which all of them have said the same."""
_WHOLE = r"\d{1,9}[,;]?$"


def out_of_step(said: Sequence[Said]) -> list[Said]:
    """The first line in which one writer alone leaves what all agreed upon, None where several do."""
    steps: dict[str, dict[int, dict[str, tuple[tuple[str, ...], Said]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for line in said:
        if line.writer is None:
            continue
        numbers = compiled(NUMBER).findall(line.message)
        while numbers and not compiled(_WHOLE).match(numbers[0]):
            numbers.pop(0)  # a time
        if len(numbers) > 1 and all(compiled(_WHOLE).match(number) for number in numbers):
            step = int(numbers[0].rstrip(",;"))
            steps[line.wording][step].setdefault(line.writer, (tuple(numbers[1:]), line))
    found = [odd for of_wording in steps.values() if (odd := _first(of_wording)) is not None]
    return found[:1] if len({line.writer for line in found}) == 1 else []


def _first(steps: Mapping[int, Mapping[str, tuple[tuple[str, ...], Said]]]) -> Said | None:
    agreed = 0
    for _, told in sorted(steps.items()):
        if len(told) < FEWEST:
            continue
        (_, votes), *rest = Counter(numbers for numbers, _ in told.values()).most_common()
        if not rest:
            agreed += 1
            continue
        alone = len(rest) == 1 and rest[0][1] == 1 and votes >= FEWEST - 1 and agreed >= AGREED
        return (
            next((line for numbers, line in told.values() if numbers == rest[0][0]), None) if alone else None
        )
    return None
