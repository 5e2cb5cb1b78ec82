"""The NFSv3 calls of a capture, read straight from its packets: a few hundred thousand of them in seconds, where tshark takes minutes.

  for call in read_calls(capture.stop(), server.port): call.at_s .stream .name .fh .offset .count

Only what the client sends is looked at. The connections must begin within the capture, and nothing of them may be missing: a hole is an error.
"""

import mmap
import struct

from .capture import NFS3_PROCEDURES

SYN = 0x02
HEADER_BYTES = 600  # of a call, with room: two handles of 64 bytes, two names or a credential of 400
LAST_FRAGMENT = 0x80000000


class Call:
    __slots__ = ("at_s", "stream", "name", "fh", "offset", "count")

    def __init__(self, at_s, stream, name, fh, offset, count):
        self.at_s, self.stream, self.name, self.fh, self.offset, self.count = at_s, stream, name, fh, offset, count


def packets(path):
    """(time in seconds, the frame) of a pcapng file of one interface."""
    unit = 1e-6
    with open(path, "rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))  # unmapped with the last frame that is in use
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 1:  # interface: the unit of its times is an option
            option, end = at + 16, at + length - 4
            while option + 4 <= end:
                code, size = struct.unpack_from("<HH", data, option)
                if code == 9:
                    unit = 10.0 ** -data[option + 4]
                option += 4 + size + -size % 4
        elif kind == 6:
            _, high, low, captured, original = struct.unpack_from("<IIIII", data, at + 8)
            assert captured == original, "packets were cut"
            yield (high << 32 | low) * unit, data[at + 28:at + 28 + captured]
        at += length


class Stream:
    """What one client sends: a byte stream cut into records, of which the first bytes are kept."""

    def __init__(self, number, sequence):
        self.number, self.expected = number, sequence
        self.left, self.mark, self.head = 0, b"", b""

    def feed(self, data):
        """Yields the first bytes of every record that ends or of which enough has come."""
        at = 0
        while at < len(data):
            if self.left == 0:
                piece = bytes(data[at:at + 4 - len(self.mark)])
                self.mark += piece
                at += len(piece)
                if len(self.mark) == 4:
                    (mark,) = struct.unpack(">I", self.mark)
                    assert mark & LAST_FRAGMENT and mark != LAST_FRAGMENT, f"a record mark of {mark:#x}"
                    self.left, self.mark, self.head = mark & ~LAST_FRAGMENT, b"", b""
                continue
            size = min(self.left, len(data) - at)
            if self.head is not None:
                self.head += bytes(data[at:at + min(size, HEADER_BYTES - len(self.head))])
            at += size
            self.left -= size
            if self.head is not None and (self.left == 0 or len(self.head) == HEADER_BYTES):
                yield self.head
                self.head = None


def opaque(data, at):
    (size,) = struct.unpack_from(">I", data, at)
    return data[at + 4:at + 4 + size], at + 4 + size + -size % 4


def decode(head, at_s, stream):
    """A Call, or None when it is not of NFSv3."""
    kind, _, program, version, procedure = struct.unpack_from(">5I", head, 4)
    assert kind == 0, "a reply from a client"
    if (program, version) != (100003, 3):
        return None
    at = 24
    for _ in range(2):  # credential, verifier
        _, at = opaque(head, at + 4)
    name = NFS3_PROCEDURES[procedure]
    fh, at = opaque(head, at) if procedure else (None, at)
    offset, count = struct.unpack_from(">QI", head, at) if name in ("read", "write", "commit") else (None, None)
    return Call(at_s, stream, name, fh, offset, count)


def read_calls(path, port):
    """[Call] in the order sent."""
    streams, calls = {}, []
    for at_s, frame in packets(path):
        assert frame[12:14] == b"\x08\x00", "not IPv4"
        ip = 14 + (frame[14] & 15) * 4
        source, to, sequence = struct.unpack_from(">HHI", frame, ip)
        if to != port:
            continue
        if frame[ip + 13] & SYN:
            streams[source] = Stream(f"{source}.{sequence}", sequence + 1 & 0xFFFFFFFF)
            continue
        (ip_bytes,) = struct.unpack_from(">H", frame, 16)  # 0: more than 64 KiB together, as within a host
        stream, data = streams[source], frame[ip + (frame[ip + 12] >> 4) * 4:14 + ip_bytes if ip_bytes else len(frame)]
        old = stream.expected - sequence & 0xFFFFFFFF
        assert not data or old < 0x80000000, f"{sequence - stream.expected & 0xFFFFFFFF} bytes of a connection are not in the capture"
        data = data[old:] if data and old < len(data) else data[:0]
        stream.expected = stream.expected + len(data) & 0xFFFFFFFF
        for head in stream.feed(data):
            call = decode(head, at_s, stream.number)
            if call:
                calls.append(call)
    return calls


def requests(calls, block_bytes):
    """Requests of the workload model, {stream: [[Call, ...], ...]}: each READ or WRITE request with all the calls that carry it.

    Nothing but the calls is used. One request is in progress on a connection at a time ("sfs" pacing), and it goes through its file in whole blocks, of which only
    the last may be shorter. So a call goes on with a request when it is the next of its connection, of the same procedure and file, and begins where a whole
    block ended. Two requests are taken for one only if the second is of the same file by chance, right behind the end of a first without a fragment: the
    file being one of hundreds, that is less than one in ten thousand.
    """
    streams = {}
    for call in calls:
        mine = streams.setdefault(call.stream, [])
        last = mine[-1][-1] if mine else None
        goes_on = (last and call.name in ("read", "write") and call.name == last.name and call.fh == last.fh and last.count == block_bytes and
                   call.offset == last.offset + last.count)
        if goes_on:
            mine[-1].append(call)
        else:
            mine.append([call])
    return streams
