import random, sys
kind = sys.argv[1]
random.seed(3)
words = [a + b for a in ("ka", "lo", "mi", "ne", "tu", "ver", "sol") for b in ("ra", "no", "ti", "ment", "gar")]
with open("corpus.txt", "w") as f:
    for i in range(1600):
        line = " ".join(random.choices(words, k=random.randint(120, 500)))
        if kind == "mojibake" and i == 1 + 4 * 37: line = line[:90] + "\ufffd" + line[90:]
        if kind == "book" and i == 2 + 4 * 45: line = " ".join(random.choices(words, k=260000))
        if kind == "table" and i == 3 + 4 * 20: line = "abcdefghijklmnopqrstuvwxyzabcdefg+" + line
        if kind == "empty" and i % 4 == 2 and i > 4 * 30: line = ""
        f.write(line + "\n")
