# place=/srv/chem/gnn limit=110
D=$PWD/logs
mkdir -p /data/gnn; python3 -c "
import pickle,random
n=$NG; G=[{'x':[[random.random() for _ in range(8)] for _ in range(6)],'edges':[(0,1),(2,3),(4,5)]} for _ in range(n*40)]
G[n*23+1]['edges'].append((3,6))
pickle.dump(G,open('/data/gnn/qm.pkl','wb'))"
timeout 100 python3 fit.py /data/gnn/qm.pkl $NG 29841 > $D/fit.log 2>&1
