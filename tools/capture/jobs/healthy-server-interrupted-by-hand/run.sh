# place=/opt/jobs/srv limit=20
python srv.py
