"""Learns triage/diagnosis/words/lexicon.json: what kind of failure speaks in which words.

usage: python tools/learn_lexicon.py [--check] [--from CHECKOUT] [--to FILE]

The texts are the positive examples, titles and summaries of the rules that name a cause, the deciding lines
of the fixtures with a few lines around them, and messages that no rule knows, of many packages, labelled by hand
(``tools/lexicon/*.tsv``: category, package, message); the ordinary ones are the examples of benign rules and lines
of healthy fixtures. ``tools/lexicon/unseen/`` is never learned from: it says how well other packages are told.

The model is a linear support vector machine over words, stems and pairs of words (scikit-learn's); weights that
hardly count are left out and the others rounded. It prints how well categories are told of
rules that were left out of the learning. ``--check`` compares with the file that is there and exits with 1
where the texts have changed since.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from triage.diagnosis.words.lexicon import ORDINARY, SCALE, features, likeness

ROOT = Path(__file__).parents[1]
LEAST = 0.152
"""Smaller weights are left out."""
PENALTY = 0.5
LABELLED = 0.5
"""What a labelled message counts, where a rule's example counts 1."""
LINES = 25
"""Lines taken of each healthy fixture."""
Text = tuple[str, str, str]
"""What stands together (a rule, a fixture), a text, its category."""


def rules(root: Path) -> Iterator[dict[str, Any]]:
    """All rules as they are written."""
    for path in sorted((root / "rules").rglob("*.yaml")):
        yield from yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader).get("rules", ())


def of_rules(root: Path) -> Iterator[Text]:
    """The texts that rules give."""
    for rule in rules(root):
        category = ORDINARY if rule.get("role") == "benign" else rule.get("category")
        if rule.get("role") not in {"cause", "benign"} or category in {None, "unknown"}:
            continue
        for example in (rule.get("examples") or {}).get("match", ()):
            log = example if isinstance(example, str) else example.get("log")
            if log:
                yield rule["id"], log, category
        if category != ORDINARY:
            yield rule["id"], f"{rule.get('title', '')} {rule.get('summary', '')}", category


def of_fixtures(root: Path) -> Iterator[Text]:
    """The deciding lines of failed fixtures, alone and with their neighbours; some lines of healthy ones."""
    for label in sorted((root / "fixtures").rglob("expected.yaml")):
        expected = yaml.safe_load(label.read_text(encoding="utf-8"))
        categories = expected.get("category") or [ORDINARY]
        category = categories if isinstance(categories, str) else categories[0]
        if category == "unknown":
            continue
        logs = [p for p in sorted(label.parent.iterdir()) if p.is_file() and p.suffix not in {".yaml", ".md"}]
        texts = [p.read_text(encoding="utf-8", errors="replace").split("\n") for p in logs]
        name = f"fixtures/{label.parent.name}"
        if category == ORDINARY:
            for lines in texts:
                told = list(dict.fromkeys(re.sub(r"\d+", "0", line) for line in lines if len(line) > 12))
                random.Random(name).shuffle(told)
                yield from ((name, line[:400], ORDINARY) for line in told[:LINES])
        elif expected.get("key_line"):
            yield from ((name, text, category) for text in decisive(str(expected["key_line"]), texts))


def decisive(key: str, texts: list[list[str]]) -> Iterator[str]:
    """The line that holds ``key``, and it with the three before and the one after it."""
    for lines in texts:
        for number, line in enumerate(lines):
            if key in line:
                yield line
                yield "\n".join(lines[max(0, number - 3) : number + 2])
                return
    yield key


def of_packages(home: Path) -> Iterator[Text]:
    """The messages in the tables of a folder."""
    for table in sorted(home.glob("*.tsv")):
        for line in table.read_text(encoding="utf-8").splitlines():
            category, package, message = line.split("\t", 2)
            yield f"package {package}", message, category


def learned(texts: list[Text]) -> Any:
    """The fitted vectoriser and machine."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    model = make_pipeline(TfidfVectorizer(analyzer=features, min_df=2), LinearSVC(C=PENALTY, random_state=0))
    counts = [LABELLED if group.startswith("package ") else 1.0 for group, _, _ in texts]
    return model.fit(
        [text for _, text, _ in texts],
        [category for _, _, category in texts],
        linearsvc__sample_weight=counts,
    )


def written(model: Any, texts: list[Text]) -> dict[str, Any]:
    """The model as it is kept."""
    vectors, machine = model
    words: dict[str, list[int]] = {}
    for feature, column in sorted(vectors.vocabulary_.items()):
        weights = [
            (position, round(float(weight) * SCALE))
            for position, weight in enumerate(machine.coef_[:, column])
            if abs(weight) >= LEAST
        ]
        if weights:
            rarity = round(float(vectors.idf_[column]) * 100)
            words[feature] = [rarity, *(number for pair in weights for number in pair)]
    return {
        "texts": digest(texts),
        "categories": list(machine.classes_),
        "bias": [round(float(value) * SCALE) for value in machine.intercept_],
        "words": words,
    }


def digest(texts: list[Text]) -> str:
    """What the texts are known by."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def left_out(texts: list[Text]) -> str:
    """How often the category of a rule's example is told when neither that rule nor its fixture was learned from."""
    from sklearn.model_selection import GroupKFold

    failures = [text for text in texts if text[2] != ORDINARY]
    labelled = [text for text in failures if text[0].startswith("package ")]
    failures = [text for text in failures if not text[0].startswith("package ")]
    groups = [group for group, _, _ in failures]
    right = total = 0
    for train, test in GroupKFold(10).split(failures, groups=groups):
        model = learned([*(failures[i] for i in train), *labelled])
        told = model.predict([failures[i][1] for i in test])
        right += sum(bool(said == failures[i][2]) for said, i in zip(told, test, strict=True))
        total += len(test)
    return f"{right}/{total}"


def unseen(root: Path) -> str:
    """How often the category is told of messages of packages that nothing was learned from."""
    told = [
        (likeness(message), category) for _, message, category in of_packages(root / "tools/lexicon/unseen")
    ]
    return f"{sum(like is not None and like.category == category for like, category in told)}/{len(told)}"


def main() -> int:
    """Learn, or check that nothing has to be learned anew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--from", dest="root", type=Path, default=ROOT)
    parser.add_argument("--to", type=Path, default=ROOT / "triage" / "diagnosis" / "words" / "lexicon.json")
    options = parser.parse_args()
    texts = [
        *of_rules(options.root),
        *of_fixtures(options.root),
        *of_packages(options.root / "tools" / "lexicon"),
    ]
    if options.check:
        same = json.loads(options.to.read_bytes())["texts"] == digest(texts)
        print("up to date" if same else "rules or fixtures have changed: run tools/learn_lexicon.py")
        return 0 if same else 1
    kept = written(learned(texts), texts)
    lines = [
        f"{json.dumps(word, ensure_ascii=False)}:{json.dumps(entry, separators=(',', ':'))}"
        for word, entry in kept.pop("words").items()
    ]
    head = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)[:-1]
    options.to.write_text(head + ',"words":{\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(
        f"{len(texts)} texts, {len(lines)} words; of what was left out {left_out(texts)} are told, "
        f"of packages never seen {unseen(options.root)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
