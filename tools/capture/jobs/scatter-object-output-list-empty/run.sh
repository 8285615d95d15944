# place=/opt/evalkit limit=60
torchrun --nproc-per-node=4 --master-port=$PORT run_eval.py --tasks hellaswag,arc_easy
