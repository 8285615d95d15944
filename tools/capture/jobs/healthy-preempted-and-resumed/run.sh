# place=/opt/jobs/pre limit=20
python pre.py; python pre.py
