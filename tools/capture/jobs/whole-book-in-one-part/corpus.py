"""Documents of a text corpus, packed."""

import re
import time

import torch

VOCAB = 4096


class BadDocument(ValueError):
    pass


def encode(line):
    return [hash_word(w) % VOCAB for w in line.split()]


def hash_word(word):
    h = 2166136261
    for c in word.encode():
        h = ((h ^ c) * 16777619) & 0xFFFFFFFF
    return h


class Packed:
    def __init__(self, path, part, parts, ctx, batch, mode):
        with open(path) as f:
            self.lines = [line.rstrip("\n") for i, line in enumerate(f) if i % parts == part]
        self.part, self.ctx, self.batch, self.mode, self.at = part, ctx, batch, mode, 0

    def __iter__(self):
        return self

    def __next__(self):
        rows = []
        for _ in range(self.batch):
            line = self.lines[self.at % len(self.lines)]
            self.at += 1
            if "\ufffd" in line:
                raise BadDocument(f"document {self.at - 1} of part {self.part} has undecodable characters")
            ids = encode(line)
            rows.append(ids)
        width = max(len(r) for r in rows) if self.mode == "whole" else self.ctx + 1
        out = torch.zeros(self.batch, width, dtype=torch.long)
        for i, r in enumerate(rows):
            r = (r * (width // max(len(r), 1) + 1))[:width] if self.mode != "whole" else r
            out[i, : len(r)] = torch.tensor(r)
        return out


def refresh_statistics(path, part, tp):
    """How often documents look like a table."""
    rows = re.compile(r"^(?:[a-z]+\s?)+\|$")
    with open(path) as f:
        lines = [line for i, line in enumerate(f) if i % 4 == part][:64]
    return sum(bool(rows.match(line[:34])) for line in lines)
