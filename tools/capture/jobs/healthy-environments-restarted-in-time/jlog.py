import datetime, json, os, sys


def jlog(level, msg, **kw):
    rec = {"ts": datetime.datetime.now(datetime.timezone.utc).isoformat(), "level": level, "pid": os.getpid(), "msg": msg, **kw}
    sys.stdout.write(json.dumps(rec) + "\n"); sys.stdout.flush()
