# place=/home/jaxuser/gnn-jax limit=110 log=launcher.log
export XLA_PYTHON_CLIENT_PREALLOCATE=false
for i in 0 1; do CUDA_VISIBLE_DEVICES=$i python -u train_graph.py 127.0.0.1:$PORT 2 $i > logs/proc$i.log 2>&1 & p[$i]=$!; done
for i in $(seq 160); do sleep 0.25; grep -q "step 12 " logs/proc1.log && break; done; kill -9 ${p[1]}
wait ${p[1]}; echo "process 1: status $?"; wait ${p[0]}; echo "process 0: status $?"
