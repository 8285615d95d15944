# place=/workspace/disttests limit=90 log=pytest.log
export OMP_NUM_THREADS=1
python -m pytest -v -s -p no:cacheprovider test_collectives.py
