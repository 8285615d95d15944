# place=/home/ines/ckptd limit=110
D=$PWD/logs
mkdir -p /mnt/ckpt/ines; mount -t tmpfs -o size=20m tmpfs /mnt/ckpt/ines; mount -o remount,ro /mnt/ckpt/ines
timeout 90 torchrun --nproc-per-node 2 --master-port 29751 trainer.py /mnt/ckpt/ines 100 > $D/torchrun.log 2>&1; umount /mnt/ckpt/ines
