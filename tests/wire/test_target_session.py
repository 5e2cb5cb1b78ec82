"""tshark reads a session that uses every procedure and every error path of the target: nothing malformed, every reply matched to its call."""

import re

import pytest
from support import bare_nfs as nfs
from support.bare_nfs import Client


@pytest.fixture
def procedures_program(bin):
    for build in (bin.parent / "build", bin.parent):
        if (build / "tests" / "target" / "target_procedures").exists():
            return build / "tests" / "target" / "target_procedures"
    pytest.skip("target_procedures is not built")


def rpc_errors(server):
    """The RPC errors that a call which is well-formed itself can get; returns how many replies carry one."""
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    for header in ({"program": 100021, "version": 4}, {"version": 2}, {"version": 4}, {"program": nfs.MOUNT, "version": 1}):
        assert client.call(nfs.NULL, **header).stat != 0
    for credential in (nfs.u32(2, 4) + b"abcd", nfs.auth_sys(1, 1, range(17))):
        assert client.call(nfs.GETATTR, nfs.fh(root), credential=credential).is_denied
    assert client.call(22).stat == 3
    client.close()
    return 7


def check(capture):
    calls = capture.calls()
    assert not capture.malformed()
    unanswered = [c for c in calls if c.done_s is None]
    assert not unanswered, f"{len(unanswered)} of {len(calls)} calls have no reply, first {unanswered[0].name} {unanswered[0].xid}"
    return calls


def test_every_procedure_and_every_error_is_well_formed(target, capture, start, procedures_program):
    server, read_only, full = target(), target("--read-only"), target("--capacity", "1MiB", "--max-files", "8")
    capture = capture([server.port, read_only.port, full.port])
    for s, mode in ((server, ["quick"]), (read_only, ["read-only"]), (full, ["full"])):
        program = start([procedures_program, s.address, s.port, s.export, *mode])
        program.wait(60)
        assert program.popen.returncode == 0, program.out
    n_errors = rpc_errors(server)
    calls = check(capture)
    by_procedure = {}
    for call in (c for c in calls if c.program == nfs.NFS and c.procedure < len(nfs_names())):
        by_procedure.setdefault(call.name, set()).add(call.status)
    missing = [name for name in nfs_names() if name not in by_procedure]
    assert not missing, f"not in the session: {missing}"
    statuses = set().union(*by_procedure.values()) - {None}
    # every status that the target can give by itself
    assert {0, 1, 2, 13, 17, 20, 21, 22, 27, 28, 30, 63, 66, 70, 10001, 10002, 10003, 10005, 10007} <= statuses, sorted(statuses)
    for name in nfs_names()[1:]:
        assert {0, 70, 10001} <= by_procedure[name], f"{name}: {by_procedure[name]}"
    replies = capture.tshark("-Y", "rpc.state_accept != 0 || rpc.replystat == 1", "-T", "fields", "-e", "rpc.xid")
    assert len(replies.split()) == n_errors


def nfs_names():
    return ["null", "getattr", "setattr", "lookup", "access", "readlink", "read", "write", "create", "mkdir", "symlink", "mknod", "remove", "rmdir", "rename", "link", "readdir",
            "readdirplus", "fsstat", "fsinfo", "pathconf", "commit"]


def test_statuses_given_by_faults_are_well_formed(target, capture):
    server = target("--fault", "any:index=4-24:status=NFS3ERR_JUKEBOX", "--fault", "mnt:index=2:status=MNT3ERR_ACCES")
    capture = capture(server.port)
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    assert client.call(1, nfs.opaque(server.export), program=nfs.MOUNT).status == 13
    file = client.create(root, "file")
    client.write(file, 0, b"x" * 100)
    client.read(file, 0, 100)
    f, r = nfs.fh(file), nfs.fh(root)
    new = r + nfs.opaque("new")
    for procedure, arguments in [
            (nfs.GETATTR, f), (nfs.SETATTR, f + nfs.NOTHING_SET + nfs.u32(0)), (nfs.LOOKUP, new), (nfs.ACCESS, f + nfs.u32(1)), (nfs.READLINK, f), (nfs.READ, f + nfs.u64(0) + nfs.u32(1)),
            (nfs.WRITE, f + nfs.u64(0) + nfs.u32(1, 0) + nfs.opaque("x")), (nfs.CREATE, new + nfs.u32(1) + nfs.NOTHING_SET), (nfs.MKDIR, new + nfs.NOTHING_SET),
            (nfs.SYMLINK, new + nfs.NOTHING_SET + nfs.opaque("x")), (nfs.MKNOD, new + nfs.u32(7) + nfs.NOTHING_SET), (nfs.REMOVE, new), (nfs.RMDIR, new), (nfs.RENAME, new + new),
            (nfs.LINK, f + new), (nfs.READDIR, r + bytes(16) + nfs.u32(100)), (nfs.READDIRPLUS, r + bytes(16) + nfs.u32(100, 100)), (nfs.FSSTAT, r), (nfs.FSINFO, r), (nfs.PATHCONF, r),
            (nfs.COMMIT, f + nfs.u64(0) + nfs.u32(0))]:
        assert client.call(procedure, arguments).status == 10008
    client.close()
    calls = check(capture)
    assert sum(c.status == 10008 for c in calls) == 21


def test_dump_and_export_lists_are_well_formed(target, capture):
    server = target("--export", "/one", "--export", "/two")
    capture = capture(server.port)
    client = Client(server.address, server.port)
    for path in ("/one", "/two"):
        client.mount(path)
    for procedure in (2, 5, 4, 2):
        assert client.call(procedure, program=nfs.MOUNT).stat == 0
    client.close()
    check(capture)
    text = capture.tshark("-V", "-Y", "mount && rpc.msgtyp == 1")
    assert len(re.findall(r"/one", text)) >= 2 and len(re.findall(r"/two", text)) >= 2
