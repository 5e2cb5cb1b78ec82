"""A scripted NFSv3 server: answers MOUNT, NULL, GETATTR and FSSTAT rightly, and does one wrong thing where a test says so.

  server = FakeServer(fault)       fault(server, connection, run, k, xid) is asked for every GETATTR: call k of the run-th run.
                                   It returns True when it has dealt with the call, False for an ordinary answer.
  server.port, server.stop()

FSSTAT begins the next run and is always answered. A connection has .reply(xid, extra=b"", cut=None), .reset(), .close().
Everything happens in one thread with a selector.
"""

import selectors
import socket
import struct
import threading

NFS, MOUNT = 100003, 100005
ROOT = b"root handle."
_ATTRIBUTES = struct.pack(">5I2Q2I2Q6I", 2, 0o755, 2, 0, 0, 4096, 4096, 0, 0, 1, 2, *range(6))


def record(body):
    return struct.pack(">I", 0x80000000 | len(body)) + body


def accepted(xid, results):
    return record(struct.pack(">6I", xid, 1, 0, 0, 0, 0) + results)


class Connection:
    def __init__(self, server, sock):
        self.server, self.sock, self.data = server, sock, b""

    def reply(self, xid, results=None, cut=None):
        """An answer to GETATTR; only its first `cut` bytes when given."""
        self.send(accepted(xid, struct.pack(">I", 0) + _ATTRIBUTES if results is None else results)[:cut])

    def send(self, data):
        # The answers of these tests fit into the socket's buffer.
        self.sock.setblocking(True)
        try:
            self.sock.sendall(data)
        except OSError:
            pass
        if self.sock.fileno() >= 0:
            self.sock.setblocking(False)

    def close(self):
        self.server.forget(self)
        self.sock.close()

    def reset(self):
        """RST instead of FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


class FakeServer:
    def __init__(self, fault=lambda *_: False, mount=None):
        """mount(xid) -> the bytes to send for MNT (None: nothing), instead of the root handle."""
        self.fault, self.mount = fault, mount
        self.run, self.k = -1, 0
        self.calls = 0
        self.connections = []
        self.selector = selectors.DefaultSelector()
        self.listener = None
        self.port = 0
        self.listen()
        self.wake, self.woken = socket.socketpair()
        self.selector.register(self.woken, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self._loop, daemon=True)
        self.thread.start()

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=512)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.selector.register(self.listener, selectors.EVENT_READ, "listener")

    def restart(self):
        """What clients see of a server that is killed and started again at once."""
        self.selector.unregister(self.listener)
        self.listener.close()
        for connection in list(self.connections):
            connection.reset()
        self.listen()

    def forget(self, connection):
        if connection in self.connections:
            self.connections.remove(connection)
            self.selector.unregister(connection.sock)

    def stop(self):
        self.wake.send(b"x")
        self.thread.join()
        for connection in list(self.connections):
            connection.close()
        self.listener.close()
        self.wake.close()
        self.woken.close()
        self.selector.close()

    def _loop(self):
        while True:
            for key, _ in self.selector.select():
                if key.data is None:
                    return
                if key.data == "listener":
                    self._accept()
                elif key.data in self.connections:
                    self._read(key.data)

    def _accept(self):
        try:
            sock, _ = self.listener.accept()
        except OSError:
            return
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        connection = Connection(self, sock)
        self.connections.append(connection)
        self.selector.register(sock, selectors.EVENT_READ, connection)

    def _read(self, connection):
        try:
            data = connection.sock.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            connection.close()
            return
        connection.data += data
        while connection in self.connections and len(connection.data) >= 4:
            (mark,) = struct.unpack(">I", connection.data[:4])
            end = 4 + (mark & 0x7FFFFFFF)
            if len(connection.data) < end:
                return
            call, connection.data = connection.data[4:end], connection.data[end:]
            self._call(connection, call)

    def _call(self, connection, call):
        xid, _, _, program, _, procedure = struct.unpack(">6I", call[:24])
        self.calls += 1
        if program == MOUNT and self.mount:
            connection.send(self.mount(xid) or b"")
        elif program == MOUNT:
            connection.reply(xid, struct.pack(">2I", 0, len(ROOT)) + ROOT + struct.pack(">2I", 1, 1))
        elif procedure == 18:
            self.run, self.k = self.run + 1, 0
            connection.reply(xid, struct.pack(">2I", 0, 0) + bytes(52))
        elif procedure == 1:
            k, self.k = self.k, self.k + 1
            if not self.fault(self, connection, self.run, k, xid):
                connection.reply(xid)
        else:
            connection.reply(xid, b"")
