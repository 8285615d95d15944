"""Becoming a job's user in a child process, for good, before any of the user's files is opened.

The child is forked from a parent that has loaded code and rules already, so nothing that the user can
write is ever imported. It returns bytes through a pipe, which the parent treats as untrusted.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import resource
import select
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from triage.errors import TriageError

MAX_RESULT = 32 << 20
TIMEOUT = 120.0
MEMORY = 8 << 30
MAX_WRITTEN = 64 << 20
"""Bytes of one file that a child may write."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CAPABILITY_VERSION = 0x20080522


class IdentityError(TriageError):
    """A user that can't or mustn't be become."""


@dataclass(frozen=True, slots=True)
class User:
    """Whom to become. ``name`` is None for an id that the host has no entry for: then without groups."""

    uid: int
    gid: int
    name: str | None = None


def look_up(uid: int, gid: int | None = None) -> User:
    """The user with this id, as the host knows it.

    Raises:
        IdentityError: for root, or an unknown id without a group.
    """
    if uid == 0:
        raise IdentityError("files of root's jobs are not read")
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        if not gid:
            raise IdentityError(f"user id {uid} is not known on this host") from None
        return User(uid, gid)
    return User(uid, gid or entry.pw_gid, entry.pw_name)


def may_become(uid: int) -> bool:
    """Whether this process could read files as ``uid``: it is root, or that user."""
    return os.geteuid() in (0, uid)


def become(user: User) -> None:
    """Turn this process into ``user`` irrevocably: groups, ids, capabilities, no new privileges, limits.

    Raises:
        IdentityError: when any privilege is left; the caller must exit then.
    """
    if user.uid == 0 or user.gid == 0:
        raise IdentityError("never root, never root's group")
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        if user.name is not None:
            os.initgroups(user.name, user.gid)
        else:
            os.setgroups([user.gid])
        if 0 in os.getgroups():
            os.setgroups([g for g in os.getgroups() if g != 0])
        os.setresgid(user.gid, user.gid, user.gid)
        os.setresuid(user.uid, user.uid, user.uid)
    for option, value in (
        (_PR_SET_NO_NEW_PRIVS, 1),
        (_PR_SET_DUMPABLE, 0),
        (_PR_SET_PDEATHSIG, signal.SIGKILL),
    ):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            raise IdentityError(f"prctl {option} failed: {os.strerror(ctypes.get_errno())}")
    _drop_capabilities(libc)
    _verify(user)
    os.umask(0o077)
    os.chdir("/")
    os.environ.clear()
    os.environ["PATH"] = "/usr/bin:/bin"
    for limit, value in (
        (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, MAX_WRITTEN), (resource.RLIMIT_AS, MEMORY),
    ):  # fmt: skip
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if libc.capset(header, nothing) != 0:
        raise IdentityError(f"capset failed: {os.strerror(ctypes.get_errno())}")


def _verify(user: User) -> None:
    if os.getresuid() != (user.uid,) * 3 or os.getresgid() != (user.gid,) * 3:
        raise IdentityError("the ids did not change")
    try:
        os.setresuid(0, 0, 0)
    except OSError:
        pass
    else:
        raise IdentityError("root could be become again")
    with open("/proc/self/status", "rb") as status:
        for line in status:
            name, _, value = line.partition(b":")
            if name in {b"CapInh", b"CapPrm", b"CapEff", b"CapAmb"} and int(value, 16):
                raise IdentityError(f"capabilities are left: {name.decode()}")


class Child:
    """A process that works as one user and sends back bytes; at most one answer, bounded in time and size."""

    def __init__(
        self, user: User, work: Callable[[Callable[[bytes], None]], None], timeout: float = TIMEOUT
    ) -> None:
        reader, writer = os.pipe()
        self.user = user
        self.received = bytearray()
        self.deadline = time.monotonic() + timeout
        self.killed = False
        self._reader = reader
        with warnings.catch_warnings():
            # the host program may have threads; the child runs no code that waits for any of them
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _run(user, work, writer)
        os.close(writer)
        os.set_blocking(reader, False)

    @property
    def output(self) -> bytes:
        """What it has sent so far."""
        return bytes(self.received)

    def fileno(self) -> int:
        """For ``select``."""
        return self._reader

    def poll(self) -> bool:
        """Take in what there is; True when the child has ended, or has been ended for taking too long."""
        try:
            while data := os.read(self._reader, 1 << 16):
                self.received += data
                if len(self.received) > MAX_RESULT:
                    break
            else:
                return self._reap()
        except BlockingIOError:
            pass
        if time.monotonic() > self.deadline or len(self.received) > MAX_RESULT:
            self.kill()
            return True
        return False

    def kill(self) -> None:
        """End it at once."""
        self.killed = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._reap()

    def _reap(self) -> bool:
        os.close(self._reader)
        # a process stuck in the kernel (a dead file server) can't be killed: never wait for it
        for _ in range(20):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
            time.sleep(0.01)
        return True


def _run(user: User, work: Callable[[Callable[[bytes], None]], None], writer: int) -> None:
    """The child's whole life."""
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.dup2(writer, 3)
        os.closerange(4, 4096)
        become(user)
        work(lambda data: _write(3, data))
    except BaseException:
        os._exit(1)
    os._exit(0)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def as_user(user: User, work: Callable[[], bytes], timeout: float = TIMEOUT) -> bytes:
    """What ``work`` returns when it runs as ``user``.

    Raises:
        IdentityError: when it did not come to an end.
    """
    child = Child(user, lambda send: send(work() + b"\0"), timeout)
    for _ in wait_for([child]):
        pass
    if not child.output.endswith(b"\0"):
        raise IdentityError(f"reading as user id {user.uid} {'took too long' if child.killed else 'failed'}")
    return child.output[:-1]


def wait_for(children: list[Child]) -> Iterator[Child]:
    """Children in the order in which they end."""
    waiting = list(children)
    while waiting:
        select.select(waiting, [], [], 0.2)
        for child in list(waiting):
            if child.poll():
                waiting.remove(child)
                yield child
