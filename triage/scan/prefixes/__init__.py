"""The prefix formats, one module per kind of program that puts them there.

A parser is a function ``(text, at, draft) -> end``: it looks for its prefix in ``text`` from index
``at``, notes what it says in ``draft``, and returns the index after it, or ``at`` when it is not there.
"""
