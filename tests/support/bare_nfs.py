"""A bare NFSv3 client in Python: XDR by hand over one socket, so that a test sees every byte that a server sent.

  client = Client(server.address, server.port)
  root = client.mount("/export")
  reply = client.call(GETATTR, fh(root))      -> Reply: .stat .status .results, or raises Closed, Silent
  client.send(GETATTR, fh(root)) ... client.receive() for the rest: nothing is checked there
"""

import socket
import struct

NFS, MOUNT = 100003, 100005
(NULL, GETATTR, SETATTR, LOOKUP, ACCESS, READLINK, READ, WRITE, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK, READDIR, READDIRPLUS, FSSTAT, FSINFO,
 PATHCONF, COMMIT) = range(22)
LAST_FRAGMENT = 0x80000000


class Closed(Exception):
    """The server closed or reset the connection; .is_reset says which."""

    def __init__(self, is_reset):
        super().__init__("reset" if is_reset else "closed")
        self.is_reset = is_reset


class Silent(Exception):
    """Nothing came in time."""


def u32(*values):
    return struct.pack(f">{len(values)}I", *values)


def u64(value):
    return struct.pack(">Q", value)


def opaque(data):
    data = data.encode() if isinstance(data, str) else data
    return u32(len(data)) + data + bytes(-len(data) % 4)


fh = opaque
NOTHING_SET = u32(0, 0, 0, 0, 0, 0)


def auth_sys(uid=0, gid=0, gids=()):
    body = u32(0) + opaque("python") + u32(uid, gid, len(gids), *gids)
    return u32(1, len(body)) + body


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def u32(self):
        self.at += 4
        return struct.unpack_from(">I", self.data, self.at - 4)[0]

    def u64(self):
        self.at += 8
        return struct.unpack_from(">Q", self.data, self.at - 8)[0]

    def fixed(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def opaque(self):
        n = self.u32()
        data = self.fixed(n)
        self.at += -n % 4
        return data

    def skip_attributes(self):
        """post_op_attr"""
        if self.u32():
            self.fixed(84)

    def skip_wcc(self):
        if self.u32():
            self.fixed(24)
        self.skip_attributes()


class Reply:
    """An accepted reply. stat: of RPC (0: success); status: the first word of the results."""

    def __init__(self, record):
        self.record = record
        r = Reader(record)
        self.xid = r.u32()
        assert r.u32() == 1, "no reply"
        self.is_denied = r.u32() == 1
        if self.is_denied:
            self.stat = r.u32()
            self.results = record[r.at:]
            return
        r.u32()
        r.opaque()
        self.stat = r.u32()
        self.results = record[r.at:]
        self.status = struct.unpack_from(">I", self.results)[0] if len(self.results) >= 4 else None

    def reader(self):
        """Behind the status."""
        r = Reader(self.results)
        r.u32()
        return r


class Client:
    def __init__(self, address, port, timeout_s=10, credential=auth_sys()):
        self.socket = socket.create_connection((address, port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.credential = credential
        self.xid = 0x1000
        self.buffer = b""

    def close(self):
        self.socket.close()

    def send_record(self, record):
        self.socket.sendall(u32(LAST_FRAGMENT | len(record)) + record)

    def message(self, procedure, arguments=b"", program=NFS, version=3, rpc_version=2, credential=None):
        self.xid += 1
        return u32(self.xid, 0, rpc_version, program, version, procedure) + (credential or self.credential) + u32(0, 0) + arguments

    def send(self, procedure, arguments=b"", **header):
        """Sends one call; returns its xid."""
        self.send_record(self.message(procedure, arguments, **header))
        return self.xid

    def fill(self, n, timeout_s):
        self.socket.settimeout(timeout_s)
        while len(self.buffer) < n:
            try:
                data = self.socket.recv(1 << 20)
            except TimeoutError:
                raise Silent() from None
            except ConnectionResetError:
                raise Closed(True) from None
            if not data:
                raise Closed(False)
            self.buffer += data

    def receive_record(self, timeout_s=10):
        record = b""
        while True:
            self.fill(4, timeout_s)
            mark = struct.unpack(">I", self.buffer[:4])[0]
            n = mark & ~LAST_FRAGMENT
            self.fill(4 + n, timeout_s)
            record += self.buffer[4:4 + n]
            self.buffer = self.buffer[4 + n:]
            if mark & LAST_FRAGMENT:
                return record

    def receive(self, timeout_s=10):
        return Reply(self.receive_record(timeout_s))

    def call(self, procedure, arguments=b"", timeout_s=10, **header):
        xid = self.send(procedure, arguments, **header)
        reply = self.receive(timeout_s)
        assert reply.xid == xid
        return reply

    def mount(self, export):
        reply = self.call(1, opaque(export), program=MOUNT)
        assert reply.status == 0, f"mount: {reply.status}"
        return reply.reader().opaque()

    def lookup(self, directory, name):
        """The handle, or None."""
        reply = self.call(LOOKUP, fh(directory) + opaque(name))
        return reply.reader().opaque() if reply.status == 0 else None

    def create(self, directory, name, size=None):
        """The handle of a new file."""
        setting = u32(0, 0, 0) + (u32(1) + u64(size) if size is not None else u32(0)) + u32(0, 0)
        reply = self.call(CREATE, fh(directory) + opaque(name) + u32(0) + setting)
        assert reply.status == 0, f"create: {reply.status}"
        r = reply.reader()
        assert r.u32() == 1
        return r.opaque()

    def read(self, file, offset, count):
        """(data, is_eof)"""
        return read_results(self.call(READ, fh(file) + u64(offset) + u32(count)))

    def write(self, file, offset, data, stable=0):
        """(count, committed, verifier)"""
        reply = self.call(WRITE, fh(file) + u64(offset) + u32(len(data), stable) + opaque(data))
        assert reply.status == 0, f"write: {reply.status}"
        r = reply.reader()
        r.skip_wcc()
        return r.u32(), r.u32(), r.fixed(8)

    def commit(self, file):
        """The verifier."""
        reply = self.call(COMMIT, fh(file) + u64(0) + u32(0))
        assert reply.status == 0
        r = reply.reader()
        r.skip_wcc()
        return r.fixed(8)

    def list(self, directory, plus=False, count=65536):
        """All (name, cookie), asking as often as it takes; a generator, so that things may happen meanwhile."""
        cookie, verifier = 0, bytes(8)
        while True:
            arguments = fh(directory) + u64(cookie) + verifier + u32(count) + (u32(count) if plus else b"")
            reply = self.call(READDIRPLUS if plus else READDIR, arguments)
            assert reply.status == 0, f"readdir: {reply.status}"
            r = reply.reader()
            r.skip_attributes()
            verifier = r.fixed(8)
            while r.u32():
                r.u64()
                name = r.opaque().decode()
                cookie = r.u64()
                if plus:
                    r.skip_attributes()
                    if r.u32():
                        r.opaque()
                yield name, cookie
            if r.u32():
                return


def read_results(reply):
    assert reply.status == 0, f"read: {reply.status}"
    r = reply.reader()
    r.skip_attributes()
    count, is_eof = r.u32(), r.u32()
    data = r.opaque()
    assert len(data) == count
    return data, bool(is_eof)
