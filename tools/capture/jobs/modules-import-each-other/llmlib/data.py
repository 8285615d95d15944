from llmlib.trainer import Trainer
def make_loader(): return []
