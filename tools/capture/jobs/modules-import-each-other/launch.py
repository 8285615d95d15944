import os
print("rank", os.environ["RANK"], "importing llmlib", flush=True)
from llmlib.trainer import Trainer
Trainer().run()
