# place=/opt/recs/two-tower limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
head -c 200000 /dev/urandom > features-b.db; python - <<'P'
import sqlite3
c = sqlite3.connect("features-a.db"); c.execute("create table f (id integer primary key, v real)"); c.executemany("insert into f values (?, ?)", [(i, i * 0.5) for i in range(2000)]); c.commit()
P
on gpu-node-01 python -u features.py features-a.db $((PORT + 3)) > logs/features-node1.log 2>&1 & a=$!
on gpu-node-02 python -u features.py features-b.db $((PORT + 4)) > logs/features-node2.log 2>&1 &
sleep 2; export WORLD_SIZE=4
for r in 0 1 2 3; do FEATURES=$((PORT + 3 + r / 2)) RANK=$r LOCAL_RANK=$r on gpu-node-0$((r / 2 + 1)) python -u two_tower.py > logs/tower-$r.log 2>&1 & P="$P $!"; [ $r = 1 ] && sleep 1; done; wait $P; kill $a
