# place=/opt/jobs/noise limit=20
python noise.py
