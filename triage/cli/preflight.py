"""``triage preflight``: is this node fit for a job?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from triage.cli.receipt import write_receipt
from triage.errors import UsageError
from triage.service.preflight import run
from triage.service.preflight.table import render

LONGEST = 3600.0


def execute(receipt: Path | None, budget: float, format: str) -> int:
    """Run the preflight, print it, write the receipt; returns the exit code."""
    if not 1.0 <= budget <= LONGEST:
        raise UsageError(f"--budget is a number of seconds from 1 to {LONGEST:.0f}, not {budget:g}")
    report = run(budget)
    if receipt is not None:
        from triage.service.collect import with_preflight

        write_receipt(with_preflight(report), receipt)
    if format == "json":
        sys.stdout.write(json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n")
    else:
        text = render(report)
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    return report.exit_code
