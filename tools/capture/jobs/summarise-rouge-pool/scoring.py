import multiprocessing as mp, random, threading, time
words = random.Random(3).choices(["the", "city", "council", "has", "voted", "again", "on", "water", "prices"], k=400)
_lock = threading.Lock()
_stems = {}

def stem(word):
    with _lock:
        return _stems.setdefault(word, word.rstrip("s"))

def refresh():
    "keeps the stem table small"
    while True:
        with _lock:
            for w in list(_stems): _stems[w] = w.rstrip("s"); time.sleep(0.03)
            time.sleep(0.25)
        time.sleep(0.001)

def rouge(pair):
    a, b = ({stem(w) for w in t.split()} for t in pair)
    return len(a & b) / max(1, len(b))

def corpus_rouge(n):
    pairs = [(" ".join(random.choices(words, k=30)), " ".join(random.choices(words, k=30))) for _ in range(n)]
    with mp.get_context("fork").Pool(2) as pool:
        return sum(pool.map(rouge, pairs)) / n

def start(): threading.Thread(target=refresh, daemon=True, name="stems").start()
