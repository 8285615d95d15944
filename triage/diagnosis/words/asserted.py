"""What a bare assertion says: all the words that it has are the expression that did not hold."""

from __future__ import annotations

from triage.scan.lazy import compiled

_SIZES = (
    r"(?<![\w(])(?:\w+\.)*(?:\w*_?(?:num|n)_(?:\w+_)?(?:heads?|experts?|layers|groups|gpus|nodes|stages|ranks|devices"
    r"|micro_?batches)|(?:tp|pp|dp|ep|cp|sp)(?:_(?:world_)?size)?|\w*world_size|\w*parallel_size|vocab_sizes?|hidden_(?:size|dim)"
    r"|(?:moe_|ffn_)?intermediate_size|head_?(?:dim|size)s?|L[qkv]|(?:micro_|mini_|global_|train_)?batch_size(?:_per_\w+)?"
    r"|block_size|page_size|group_size|max_(?:seq_len|model_len|position_embeddings|num_\w+)|seq_length)\b"
)
"""How programs call what a model or a launch has been given as its sizes."""
_COMPARED = r" % |[<>=!]=|(?<![-=])[<>](?!=)| in [\[({]"
_OBJECTS = r"\.shape\b|\.size\(|\.dim\(|\.ndim\b|\bisinstance\(|\blen\(|\bis (?:not )?None\b|\bhasattr\("
"""What is asked of objects."""


def kind_of_assertion(code: str) -> str | None:
    """The category that an expression speaks of which a library took for granted; None where it may be anything."""
    if not code.startswith("assert ") or compiled(_OBJECTS).search(code) is not None:
        return None
    if compiled(_COMPARED).search(code) is not None and compiled(_SIZES).search(code) is not None:
        return "config"  # sizes that do not go together
    return None
