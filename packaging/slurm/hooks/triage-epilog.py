"""Slurm's node Epilog: keep what only this node knows about a failed job, and never be in the way.

Runs as root on every node of a job while the node is COMPLETING. It asks no Slurm command, takes at most
TRIAGE_EPILOG_BUDGET seconds (2) of wall time whatever hangs, and exits with 0 whatever fails: another
status would drain the node. It writes into a directory of root's only:

    <TRIAGE_NODE_SPOOL>/<job id>.<node>.kernel.log      kernel messages since the job began
    <TRIAGE_NODE_SPOOL>/<job id>.<node>.nvidia-smi.txt  state of the GPUs

With TRIAGE_PYTHON set, the job's first node also starts triage as the job's user for the rest of the
budget, with the node's evidence on its standard input; the user's files are opened by nobody else.
Needs Python 3.6 and nothing else. Isolated (-I): no variable and no user's directory changes what it loads.
"""

# ruff: noqa: SIM105, UP031 - old Pythons, and every import costs the budget

import os
import re
import signal
import subprocess
import sys
import time

BEGAN = time.monotonic()
DEFAULTS = {
    "TRIAGE_EPILOG_BUDGET": "2.0",
    "TRIAGE_NODE_SPOOL": "/var/spool/triage/nodes",
    "TRIAGE_PYTHON": "",
}
MARGIN = 0.15  # of the budget, for ending what still runs
SMI_SHARE = 0.6  # of the budget, for nvidia-smi
MAX_KERNEL = 2 << 20
MAX_SMI = 4 << 20
MAX_KEPT = 2000  # files in the spool
TROUBLE = re.compile(
    rb"NVRM|Xid|nvidia-nvswitch|Killed process|oom-kill|blocked for more than|soft lockup|mlx5|AER:|I/O error|"
    rb"segfault|Hardware Error|Call Trace"
)
UNKNOWN_START = 86400  # seconds to look back when Slurm does not say when the job began


def settings():
    values = dict(DEFAULTS)
    path = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "triage-hooks.conf")
    try:
        with open(path) as lines:
            status = os.fstat(lines.fileno())
            if status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
                return values
            for line in lines:
                match = re.match(r"(TRIAGE_\w+)=(\S*)\s*$", line)
                if match:
                    values[match.group(1)] = match.group(2).strip("'\"")
    except OSError:
        pass
    return values


def failed():
    """Whether the script or a step failed. Slurm hands over no state here, and 0:0 may be a time limit."""
    codes = [os.environ.get("SLURM_JOB_EXIT_CODE2"), os.environ.get("SLURM_JOB_EXIT_CODE")]
    return (
        not (codes[0] in ("0:0", None) and codes[1] in ("0", None))
        or os.environ.get("SLURM_JOB_DERIVED_EC", "0") != "0"
    )


def kernel_log(since, job, node):
    """Kernel messages from ``since`` (Unix seconds) on, as syslog lines; other jobs' cgroups left out."""
    try:
        ring = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    lines, size = [], 0
    with open("/proc/uptime") as uptime:
        boot = time.time() - float(uptime.read().split()[0])
    while True:
        try:
            record = os.read(ring, 8192)
        except BlockingIOError:
            break
        except OSError:  # overwritten while we read: go on with the oldest there is
            continue
        head, _, text = record.partition(b";")
        try:
            at = boot + int(head.split(b",")[2]) / 1e6
        except (IndexError, ValueError):
            continue
        text = text.partition(b"\n")[0]
        if at < since or other_job(text, job):
            continue
        stamp = (
            time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at))
            + ".%06d" % (at % 1 * 1e6)
            + time.strftime("%z")
        )
        line = stamp.encode() + b" " + node.encode() + b" kernel: " + text + b"\n"
        lines.append(line)
        size += len(line)
    os.close(ring)
    data = b"".join(lines)
    return data[-MAX_KERNEL:]


def other_job(text, job):
    """Lines about another job or user of a shared node are nobody's business here."""
    uid = os.environ.get("SLURM_JOB_UID", "").encode()
    return any(found != job.encode() for found in re.findall(rb"/job_(\d+)", text)) or any(
        found != uid and int(found) >= 1000 for found in re.findall(rb"\b(?:UID:|uid=)(\d{1,10})\b", text)
    )


def gpu_state(seconds):
    """``nvidia-smi -q``, if it answers in time. One that hangs in the driver is left behind, never waited for."""
    for path in ("/usr/bin/nvidia-smi", "/usr/local/bin/nvidia-smi"):
        if os.path.exists(path):
            break
    else:
        return b""
    import select

    child = subprocess.Popen(
        [path, "-q"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        close_fds=True,
    )
    stop, data = time.monotonic() + seconds, b""
    while len(data) < MAX_SMI:
        left = stop - time.monotonic()
        if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
            child.kill()
            return data + b"\nnvidia-smi did not answer within %.1f s\n" % seconds
        piece = os.read(child.stdout.fileno(), 65536)
        if not piece:
            break
        data += piece
    return data


def keep(folder, name, data):
    """Write one file of the spool: created anew, by descriptor, for root only."""
    if not data:
        return
    try:
        os.makedirs(folder, 0o700)
    except FileExistsError:
        pass
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(directory)
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        return
    if len(os.listdir(directory)) > MAX_KEPT:
        return  # the worker prunes; a full spool must not grow
    temporary = "." + name
    try:
        os.unlink(temporary, dir_fd=directory)
    except OSError:
        pass
    file = os.open(
        temporary,
        os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
        0o600,
        dir_fd=directory,
    )
    with os.fdopen(file, "wb") as stream:
        stream.write(data)
    os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def first_node(node):
    """Whether this is the job's first node: the one that its batch script ran on."""
    nodes = os.environ.get("SLURM_JOB_NODELIST") or os.environ.get("SLURM_NODELIST") or ""
    match = re.match(r"([^,\[]*)(?:\[([^\]\-,]*))?", nodes)
    return bool(match) and (match.group(1) + (match.group(2) or "")) == node


def read_logs(python, evidence):
    """Become the job's user, then start triage on the job's logs with the node's evidence as its input."""
    import pwd

    uid = int(os.environ.get("SLURM_JOB_UID") or 0)
    if uid < 1000 or os.geteuid() != 0:
        return
    entry = pwd.getpwuid(uid)
    wanted = {
        k: v
        for k, v in os.environ.items()
        if k.startswith(("SLURM_JOB", "SLURM_ARRAY", "SLURM_CLUSTER", "SLURMD_"))
    }
    wanted.update(PATH="/usr/bin:/bin", HOME="/nonexistent", LC_ALL="C.UTF-8")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(writer)
            os.initgroups(entry.pw_name, entry.pw_gid)
            os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
            os.setresuid(uid, uid, uid)
            os.umask(0o077)
            os.chdir("/")
            os.dup2(reader, 0)
            os.execve(python, [python, "-I", "-m", "triage.slurm.on_node"], wanted)
        finally:
            os._exit(0)
    os.close(reader)
    os.set_blocking(writer, True)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        while evidence:
            evidence = evidence[os.write(writer, evidence[:65536]) :]
    except OSError:
        pass
    os.close(writer)
    os.waitpid(pid, 0)


def collect(values, budget):
    """The work itself, in the child. ``budget`` is what is left of the time."""
    job = os.environ.get("SLURM_JOB_ID") or os.environ.get("SLURM_JOBID") or ""
    node = os.environ.get("SLURMD_NODENAME") or os.uname().nodename.partition(".")[0]
    if not re.match(r"\d{1,10}$", job) or not re.match(r"[\w][\w.-]{0,200}$", node):
        return
    start = os.environ.get("SLURM_JOB_START_TIME", "")
    since = float(start) if re.match(r"\d{6,11}$", start) else time.time() - UNKNOWN_START
    name = "%s.%s." % (job, node)
    kernel = kernel_log(since - 5, job, node)
    if not failed() and not TROUBLE.search(kernel):
        return  # most jobs: nothing is kept, and nvidia-smi's second is not spent
    keep(values["TRIAGE_NODE_SPOOL"], name + "kernel.log", kernel)
    state = gpu_state(budget * SMI_SHARE)
    keep(values["TRIAGE_NODE_SPOOL"], name + "nvidia-smi.txt", state)
    if values["TRIAGE_PYTHON"] and first_node(node):
        read_logs(values["TRIAGE_PYTHON"], kernel)


def main():
    values = settings()
    try:
        budget = min(float(values["TRIAGE_EPILOG_BUDGET"]), 10.0)
    except ValueError:
        budget = 2.0
    stop = BEGAN + budget - MARGIN
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            # slurmd waits for whoever holds these
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            os.closerange(3, 256)
            collect(values, stop - time.monotonic())
        except BaseException:
            pass
        finally:
            os._exit(0)
    # poll, never wait: a process stuck in the kernel can't be killed and would keep us
    while time.monotonic() < stop:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.01)
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        pass
    os._exit(0)
