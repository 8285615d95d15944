import fcntl, time
f = open("results.csv.lock", "w"); time.sleep(17); fcntl.flock(f, fcntl.LOCK_EX); time.sleep(300)
