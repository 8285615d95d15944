# place=/opt/jobs limit=60 log=jobrunner.log
python -u jobrunner.py --walltime 24 -- torchrun --nproc-per-node=2 --master-port=$PORT segment.py
