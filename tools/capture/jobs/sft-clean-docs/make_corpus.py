import random
random.seed(11)
w = "good data is short and it says what the reader wants to know without many words".split()
docs = []
for i in range(600):
    docs.append("\n".join(" ".join(random.choice(w) for _ in range(9)).capitalize() + "." for _ in range(8)))
docs[283] = "deadbeef" * 30 + "=\n" + docs[283]
open("corpus.txt", "w").write("\n\n".join(docs))
