import datetime, os, sys


class _L:
    def _w(self, lv, m):
        f = sys._getframe(2)
        sys.stderr.write(f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S.%f}"[:-3] + f" | {lv: <8} | {f.f_globals['__name__']}:{f.f_code.co_name}:{f.f_lineno} - [{os.environ.get('RANK')}] {m}\n"); sys.stderr.flush()

    def info(self, m): self._w("INFO", m)
    def success(self, m): self._w("SUCCESS", m)


logger = _L()
