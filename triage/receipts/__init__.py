"""A run's receipt: its shape, how it is loaded and masked, and what it says about a failure.

A receipt is a JSON object, all parts of which are optional; ``docs/receipts.md`` describes them.
"""

from __future__ import annotations

from triage.receipts.masking import mask_argv, mask_environment, masked
from triage.receipts.model import ReceiptInput, load_receipt, validate

__all__ = ["ReceiptInput", "load_receipt", "mask_argv", "mask_environment", "masked", "validate"]
