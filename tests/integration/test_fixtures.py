"""The fixtures themselves: a suite that can't see a leak, or a server that isn't there, proves nothing."""

import os
import subprocess
import sys

from support import process


def test_orphan_is_seen_and_killed():
    subprocess.run([sys.executable, "-c", "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"], check=True)
    left = process.kill_orphans(set(), grace_s=0)
    assert list(left.values()) == ["sleep 1000"]
    assert "sleep 1000" not in process.children_of(os.getpid()).values()


def test_program_dies_with_its_parent(run_dir):
    script = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(__file__))!r}); from support.process import Program; print(Program(['sleep', '1000'], {str(run_dir)!r}).pid)"
    pid = int(subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True).stdout)
    process.wait_for(lambda: pid not in process.children_of(os.getpid()) or process.kill_orphans(set()) == {}, 5, "the child of a dead parent to die")
    assert not os.path.exists(f"/proc/{pid}")


def test_hosts_reach_each_other_and_nothing_else(network):
    net = network()
    one, two = net.add("one"), net.add("two")
    assert one.run("hostname").strip() == "one"
    listing = one.run("ip", "-o", "addr")
    assert one.address in listing and two.address not in listing
    server = process.Program([sys.executable, "-c", f"import socket; s = socket.create_server(('{two.address}', 7)); c, a = s.accept(); c.send(a[0].encode())"], net.directory, "server", prefix=two.enter)
    try:
        client = f"import socket, time\nfor i in range(100):\n  try: print(socket.create_connection(('{two.address}', 7)).recv(99).decode()); break\n  except OSError: time.sleep(0.05)"
        assert one.run(sys.executable, "-c", client).strip() == one.address
    finally:
        server.stop()


def test_ganesha_serves_a_temporary_directory(ganesha):
    server = ganesha()
    (server.export_dir / "hello").write_text("x")
    listing = server.host.run("nfs-ls", f"nfs://{server.address}{server.export}?nfsport={server.nfs_port}&mountport={server.mount_port}&version=3")
    assert "hello" in listing


def test_capture_sees_calls_and_replies(ganesha, capture):
    server = ganesha()
    wire = capture([server.nfs_port, server.mount_port], prefix=server.enter)
    server.host.run("nfs-ls", f"nfs://{server.address}{server.export}?nfsport={server.nfs_port}&mountport={server.mount_port}&version=3")
    calls = wire.calls()
    assert wire.malformed() == []
    assert {c.program for c in calls} == {100003, 100005}
    assert wire.counts()["readdirplus"] == 1
    assert all(0 <= c.time_s < 1 and abs(c.done_s - c.sent_s - c.time_s) < 1e-6 for c in calls)
