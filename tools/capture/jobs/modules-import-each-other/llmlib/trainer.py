from llmlib.data import make_loader
class Trainer:
    def run(self): print(make_loader())
