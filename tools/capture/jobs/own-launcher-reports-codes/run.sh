# place=/opt/sedge limit=60
python launch.py 2>&1
