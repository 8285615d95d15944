# place=/opt/jobs/gw limit=20
python drain.py
