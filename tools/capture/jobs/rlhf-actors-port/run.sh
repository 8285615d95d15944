# place=/srv/rl/actors limit=75
r=0
for h in act-a act-b act-c act-d; do
  (HOSTNAME_SHORT=$h; . ./env.sh; RANK=$r LOCAL_RANK=$r on $h python -u actor.py > logs/$h.err 2>&1; rc=$?; echo "$(date +%T) $h exited with $rc" >> logs/hosts.txt) &
  r=$((r+1))
done; wait
