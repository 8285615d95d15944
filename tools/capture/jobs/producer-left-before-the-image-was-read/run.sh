# place=/opt/imgserve limit=80
export OMP_NUM_THREADS=1
python -u gateway.py; echo "gateway exit $?"
