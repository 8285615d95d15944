# place=/home/jun/ppo-lite limit=110
D=$PWD/logs
printf 'actors: 4\nbatches: 12\nbatch: 4\nflaky_envs: false\npolicy: early-eos\nreward_timeout: 20\n' > run_a.yaml
python3 main.py run_a.yaml > $D/driver.jsonl 2> $D/driver.err; echo "exit status: $?" >> $D/driver.err
