import json, random, sys
random.seed(2)
kind = sys.argv[1]
with open("train.jsonl", "w") as f:
    for i in range(2400):
        n = 64
        row = {"ids": [random.randrange(512) for _ in range(n)]}
        if kind == "vocab" and i == 1 + 4 * 170: row["ids"][5] = 50256
        if kind == "longer" and i == 3 + 4 * 170: row["ids"] += row["ids"][:9]
        if kind == "cut" and i == 2 + 4 * 170: f.write(json.dumps(row)[:88] + "\n"); continue
        if kind == "short" and i >= 4 * 200 and i % 4 != 1: continue
        f.write(json.dumps(row) + "\n")
    if kind == "short": pass
with open("eval.jsonl", "w") as f:
    for i in range(64):
        f.write(json.dumps({"ids": [random.randrange(512) for _ in range(64)]}) + "\n")
