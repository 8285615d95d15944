# place=/home/jaxuser/flaxlm limit=90
export XLA_PYTHON_CLIENT_PREALLOCATE=false
python -u pretrain_flax.py --resume; echo "exit code: $?"
