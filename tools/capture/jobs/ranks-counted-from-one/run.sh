# place=/home/u9/ocr limit=80 log=start.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
for i in $(seq 1 4); do
  echo "launching process $i of 4"
  RANK=$i LOCAL_RANK=$(((i - 1) % 2)) python crnn.py > logs/ocr_$i.log 2>&1 &
done
wait
