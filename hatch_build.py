"""Packs the rules into the wheel: checked once, shipped as one file, of which the first line is JSON and an index in columns follows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RulePacker(BuildHookInterface):  # type: ignore[type-arg]
    """Writes ``triage/rules/_packed.json`` from ``rules/`` when a wheel is built."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Parse and check every rule; a broken one stops the build."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        target = root / "build" / "_packed.json"
        sys.path.insert(0, str(root))
        try:
            from triage.rules.pack import packed
            from triage.rules.parsing import parse_rule_files

            target.parent.mkdir(exist_ok=True)
            target.write_bytes(packed(parse_rule_files(root / "rules")))
        finally:
            sys.path.remove(str(root))
        build_data["force_include"][str(target)] = "triage/rules/_packed.json"
