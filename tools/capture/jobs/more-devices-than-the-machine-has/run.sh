# place=/home/lab/pl limit=80
python fit_unet.py --devices 4
echo "exit: $?"
