# place=/opt/jobs/asr limit=20
python evalr.py
