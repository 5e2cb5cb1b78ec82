"""The control protocol from the outside: a prime in Python that can also misbehave, and the programs of tests/control.

  loadgen daemons with foretellable processes (fake_loadgen): each process does one op per millisecond of the run, every 100th fails
  cluster_drive: a prime without a campaign; its output is a JSON event per line
"""

import hashlib
import json
import os
import socket
import struct
from pathlib import Path

from .process import wait_for

PROGRAM, VERSION = 0x20004E43, 1
NULL, HELLO, SEALED = 0, 1, 2
FACTS, CONFIGURE, LAYOUT, START, STATUS, COLLECT, STOP, RELEASE = range(8)
OK, BUSY, NO_LEASE, BAD_REQUEST, FORBIDDEN, FAILED = range(6)
REVISION = 1
CONTEXT = b"nfscurve control protocol 1\0"
ROOT = Path(__file__).resolve().parents[2]


def program(name):
    """A program of tests/control, of the build that the programs under test are of."""
    given = os.environ.get("NFSCURVE_BIN")
    for build in ([Path(given).resolve().parent] if given else []) + [ROOT / "build"]:
        path = build / "tests" / "control" / name
        if path.exists():
            return path
    raise AssertionError(f"no {name}: ./run build")


class Drive:
    """A running cluster_drive."""

    def __init__(self, start, hosts, *arguments, inside=None):
        self.program = start([program("cluster_drive"), *arguments, *[f"{h.address}:{h.port}" for h in hosts]], inside=inside)

    @property
    def events(self):
        return [json.loads(line) for line in self.program.out.splitlines() if line.endswith("}")]

    def all(self, event, **fields):
        return [e for e in self.events if e["event"] == event and all(e.get(k) == v for k, v in fields.items())]

    def wait_for(self, event, timeout_s=20, **fields):
        """The first event of that kind with these fields."""

        def look():
            found = self.all(event, **fields)
            if not found:
                assert self.program.running or self.all(event, **fields), f"ended without {event} {fields}:\n{self.program.out}{self.program.err}"
            return found

        return wait_for(look, timeout_s, f"{event} {fields}")[0]

    def finish(self, timeout_s=40):
        return self.program.wait(timeout_s)


def xdr_opaque(data):
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


class Peer:
    """One TCP connection to a load generator."""

    def __init__(self, server, key=bytes(32), timeout_s=10):
        self.socket = socket.create_connection((server.address, server.port), timeout=timeout_s)
        self.shared_key, self.key, self.sequence, self.xid = key, None, 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send_record(self, data):
        self.socket.sendall(struct.pack(">I", 0x80000000 | len(data)) + data)

    def read_exactly(self, n):
        data = b""
        while len(data) < n:
            piece = self.socket.recv(n - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data

    def read_record(self):
        mark = struct.unpack(">I", self.read_exactly(4))[0]
        return self.read_exactly(mark & 0x7FFFFFFF)

    def is_closed(self):
        """Waits for the other side to close; False when it does not within the time-out."""
        try:
            while self.socket.recv(65536):
                pass
            return True
        except ConnectionError:
            return True
        except socket.timeout:
            return False

    def call(self, procedure, arguments=b"", program=PROGRAM, version=VERSION):
        """Results of an accepted call; raises on anything else."""
        self.xid += 1
        self.send_record(struct.pack(">IIIIIIIIII", self.xid, 0, 2, program, version, procedure, 0, 0, 0, 0) + arguments)
        reply = self.read_record()
        xid, kind, stat, _, _, accepted = struct.unpack(">IIIIII", reply[:24])
        assert (xid, kind) == (self.xid, 1)
        if stat != 0 or accepted != 0:
            raise PermissionError(f"refused: reply_stat {stat} accept_stat {accepted}")
        return reply[24:]

    def hello(self, revision=REVISION):
        nonce = os.urandom(32)
        answer = self.call(HELLO, struct.pack(">I", revision) + xdr_opaque(b"0") + nonce)
        theirs = answer[-32:]
        self.key = hashlib.blake2b(CONTEXT + nonce + theirs, digest_size=32, key=self.shared_key).digest()
        return struct.unpack(">I", answer[:4])[0]

    def mac(self, direction, sequence, body):
        return hashlib.blake2b(bytes([direction]) + struct.pack(">Q", sequence) + body, digest_size=32, key=self.key).digest()

    def sealed(self, body, sequence=None, mac=None, sent_body=None):
        """(is sealed, verdict, rest) of a sealed call; False and the reason when the seal was refused. sent_body: sent instead of the body that was sealed."""
        if sequence is None:
            self.sequence += 1
            sequence = self.sequence
        mac = mac or self.mac(1, sequence, body)
        answer = self.call(SEALED, struct.pack(">Q", sequence) + mac + xdr_opaque(sent_body if sent_body is not None else body))
        if struct.unpack(">I", answer[:4])[0] != 0:
            n = struct.unpack(">I", answer[4:8])[0]
            return False, answer[8 : 8 + n].decode(), b""
        assert struct.unpack(">Q", answer[4:12])[0] == sequence
        n = struct.unpack(">I", answer[44:48])[0]
        body = answer[48 : 48 + n]
        assert answer[12:44] == self.mac(2, sequence, body)
        return True, struct.unpack(">I", body[:4])[0], body[4:]

    def step(self, step, arguments=b""):
        return self.sealed(struct.pack(">I", step) + arguments)
