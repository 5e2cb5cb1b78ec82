"""What was on the wire: dumpcap writes it, tshark reads it.

A capture that lost packets proves nothing: the test is skipped then, with the number.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .process import Program, wait_for

NFS3_PROCEDURES = ["null", "getattr", "setattr", "lookup", "access", "readlink", "read", "write", "create", "mkdir", "symlink", "mknod", "remove", "rmdir",
                   "rename", "link", "readdir", "readdirplus", "fsstat", "fsinfo", "pathconf", "commit"]


def why_not():
    for program in ("dumpcap", "tshark"):
        if not shutil.which(program):
            return f"{program} is not installed"
    done = subprocess.run(["dumpcap", "-D"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or not re.search(r"\blo\b", done.stdout):
        return "dumpcap may not capture on lo here (needs root or CAP_NET_RAW)"
    return None


class Call:
    """One RPC: times are seconds since the epoch, taken by the kernel; time_s is tshark's own response time."""

    __slots__ = ("xid", "program", "procedure", "sent_s", "done_s", "time_s", "status")

    def __init__(self, xid, program, procedure, sent_s):
        self.xid, self.program, self.procedure, self.sent_s = xid, program, procedure, sent_s
        self.done_s = self.time_s = self.status = None

    @property
    def name(self):
        return NFS3_PROCEDURES[self.procedure] if self.program == 100003 else f"mount.{self.procedure}"


class Capture:
    def __init__(self, directory, ports, prefix=(), interface="lo", snaplen=262144, only_calls=False):
        reason = why_not()
        if reason:
            pytest.skip(reason)
        self.ports = [int(p) for p in (ports if isinstance(ports, (list, tuple)) else [ports])]
        self.path = Path(directory) / f"capture-{self.ports[0]}-{time.monotonic_ns()}.pcapng"
        wanted = " or ".join(f"tcp {'dst ' if only_calls else ''}port {p}" for p in self.ports)
        # -B: the kernel's buffer in MiB; -s below the packet size loses nothing of a header but makes large READs unreadable
        self.dumpcap = Program(["dumpcap", "-q", "-i", interface, "-f", wanted, "-B", "256", "-s", snaplen, "-w", self.path], directory, prefix=prefix)

        def started():
            assert self.dumpcap.running, f"dumpcap ended: {self.dumpcap.err}"
            return self.path.exists() and self.path.stat().st_size > 0

        wait_for(started, 10, "dumpcap")

    def stop(self):
        """Ends the capture once everything sent so far is in it."""
        if self.dumpcap.running:
            size = -1
            while self.path.stat().st_size != size:
                size = self.path.stat().st_size
                time.sleep(0.4)  # longer than dumpcap's own read time-out, after which it hands on what it has
            self.dumpcap.signal(signal.SIGINT)
            self.dumpcap.wait(20)
        lost = re.search(r"dropped on interface '[^']*': \d+/(\d+)", self.dumpcap.err)
        if lost and int(lost.group(1)):
            pytest.skip(f"dumpcap lost {lost.group(1)} packets")
        return self.path

    def tshark(self, *arguments):
        """Output of tshark over the whole capture, decoding our ports as RPC."""
        self.stop()
        # Without these tshark can't put records together that TCP delivered in odd pieces, and asks for names.
        command = ["tshark", "-n", "-r", str(self.path), "-o", "rpc.find_fragment_start:TRUE", "-o", "tcp.try_heuristic_first:FALSE"]
        for port in self.ports:
            command += ["-d", f"tcp.port=={port},rpc"]
        done = subprocess.run(command + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, env={**os.environ, "LC_ALL": "C", "TZ": "UTC"})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def malformed(self):
        """Frames that tshark calls malformed, or with a length that cannot be: one line each."""
        return self.tshark("-Y", "_ws.malformed || rpc.fragment.error || _ws.unreassembled", "-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info").splitlines()

    def calls(self):
        """Every RPC call of NFS and MOUNT with its reply, in the order sent: [Call]. One frame may hold many."""
        text = self.tshark("-Y", "rpc", "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,", "-e", "frame.time_epoch", "-e", "tcp.stream",
                           "-e", "rpc.msgtyp", "-e", "rpc.xid", "-e", "rpc.program", "-e", "rpc.procedure", "-e", "rpc.time", "-e", "nfs.status3")
        calls, waiting = [], {}
        for line in text.splitlines():
            when, stream, kinds, xids, programs, procedures, times, statuses = line.split("|")
            if not kinds:  # the middle of a record
                continue
            programs, procedures = iter(programs.split(",")), iter(procedures.split(","))
            times, statuses = iter(times.split(",")), iter(statuses.split(","))
            for kind, xid in zip(kinds.split(","), xids.split(",")):
                program, procedure = next(programs, None), next(procedures, None)
                if int(kind) == 0:
                    call = Call(xid, int(program), int(procedure), float(when))
                    waiting[stream, xid] = call
                    calls.append(call)
                else:
                    call = waiting.pop((stream, xid), None)
                    took = next(times, None)
                    status = next(statuses, None) if call and call.program == 100003 and call.procedure else None
                    if call:
                        call.done_s = float(when)
                        call.time_s = float(took) if took else None
                        call.status = int(status) if status else None
        return calls

    def counts(self):
        """{procedure: calls} of NFSv3."""
        found = {}
        for call in self.calls():
            if call.program == 100003:
                found[call.name] = found.get(call.name, 0) + 1
        return found
