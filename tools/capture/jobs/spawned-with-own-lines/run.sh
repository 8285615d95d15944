# place=/opt/borax limit=60
python borax.py 2>&1
