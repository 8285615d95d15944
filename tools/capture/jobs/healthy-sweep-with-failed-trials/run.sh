# place=/opt/jobs/sweep limit=20
python -u sweep.py 1
