# place=/opt/pintail limit=60 log=run.log
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 OMP_NUM_THREADS=1
for r in 0 1 2; do RANK=$r python -u pintail.py & p[$r]=$!; done
for r in 0 1 2; do wait ${p[$r]}; echo "rank $r (pid ${p[$r]}): exit status $?"; done
