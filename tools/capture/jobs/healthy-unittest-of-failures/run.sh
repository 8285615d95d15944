# place=/opt/jobs/tests limit=20
python test_u.py
