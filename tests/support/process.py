"""Processes of the tests: every one dies with the test (PR_SET_PDEATHSIG), is stopped by its pid and waited for.

  with the fixtures of conftest.py nobody starts a process in any other way; what is left after a test fails that test.
"""

import ctypes
import json
import os
import signal
import subprocess
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)

# Sanitized programs are several times slower; waits are upper bounds, never part of a passing test's time.
PATIENCE = 4 if os.environ.get("NFSCURVE_SANITIZED") else 1


def become_subreaper():
    """Orphans of what we start become our children, so that they can be seen and killed."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def wait_for(condition, timeout_s=10.0, what="condition"):
    """The first true value of condition(); fails the test after timeout_s."""
    deadline = time.monotonic() + timeout_s * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {timeout_s * PATIENCE:g} s for {what}"
        time.sleep(0.01)


class Program:
    """A running program with its output in two files."""

    def __init__(self, argv, directory, name=None, prefix=(), env=None, cwd=None):
        self.argv = [str(a) for a in argv]
        self.name = name or Path(self.argv[0]).name
        directory = Path(directory)
        serial = 0
        while (directory / f"{self.name}.{serial}.out").exists():
            serial += 1
        self.out_path = directory / f"{self.name}.{serial}.out"
        self.err_path = directory / f"{self.name}.{serial}.err"
        self.ready_path = directory / f"{self.name}.{serial}.ready"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.popen = subprocess.Popen(
                list(prefix) + [a.replace("@READY@", str(self.ready_path)) for a in self.argv],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=die_with_parent, cwd=cwd,
                env={**os.environ, "LC_ALL": "C", "TZ": "UTC", **(env or {})})
        self.pid = self.popen.pid

    @property
    def out(self):
        return self.out_path.read_text(errors="replace")

    @property
    def err(self):
        return self.err_path.read_text(errors="replace")

    @property
    def running(self):
        return self.popen.poll() is None

    def ready(self, timeout_s=10.0):
        """What the program wrote to its ready file ("@READY@" among its arguments), as a dict."""

        def look():
            if self.ready_path.exists():
                return json.loads(self.ready_path.read_text())
            assert self.running, f"{self.name} ended with status {self.popen.returncode} before it was ready:\n{self.err}{self.out}"
            return None

        return wait_for(look, timeout_s, f"{self.name} to be ready")

    def wait(self, timeout_s=60.0):
        """Exit status, negative for a signal. Kills it and fails the test when it takes longer."""
        try:
            return self.popen.wait(timeout_s * PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} still ran after {timeout_s * PATIENCE:g} s:\n{self.err[-3000:]}") from None

    def signal(self, number):
        self.popen.send_signal(number)

    def kill(self):
        if self.running:
            self.popen.kill()
        self.popen.wait()

    def stop(self, timeout_s=5.0):
        """SIGTERM, then SIGKILL. The exit status."""
        if self.running:
            self.popen.terminate()
            try:
                self.popen.wait(timeout_s * PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.popen.returncode


def children_of(pid):
    """{pid: command line} of the children of a process, zombies included."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as f:
                fields = f.read().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                with open(f"/proc/{entry}/cmdline") as f:
                    found[int(entry)] = f.read().replace("\0", " ").strip()
        except (OSError, ValueError):
            continue
    return found


def descendants_of(pid):
    found = {}
    for child, command in children_of(pid).items():
        found[child] = command
        found.update(descendants_of(child))
    return found


def kill_orphans(known, grace_s=1.0):
    """Kills our children that are not known; {pid: command line} of those that were alive after the grace."""
    deadline = time.monotonic() + grace_s * PATIENCE
    while True:
        alive = {}
        for pid, command in children_of(os.getpid()).items():
            if pid in known:
                continue
            try:
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    alive[pid] = command
            except ChildProcessError:
                continue
        if not alive or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return alive
