# place=/home/jaxuser/serve-jax limit=60
export XLA_PYTHON_CLIENT_PREALLOCATE=false
python -m http.server $PORT --bind 0.0.0.0 > /dev/null 2>&1 & s=$!; sleep 3
for i in 0 1; do CUDA_VISIBLE_DEVICES=$i python -u serve.py 127.0.0.1:$PORT 2 $i > logs/host$i.log 2>&1 & p[$i]=$!; done; wait ${p[0]}; wait ${p[1]}; kill $s
