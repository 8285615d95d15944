# place=/home/jun/ppo-lite limit=110
D=$PWD/logs
printf 'actors: 4\nbatches: 14\nbatch: 4\nflaky_envs: true\npolicy: default\nreward_timeout: 30\n' > run_b.yaml
python3 main.py run_b.yaml > $D/driver.jsonl 2> $D/driver.err; echo "exit status: $?" >> $D/driver.err
