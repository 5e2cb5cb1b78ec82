"""The target's life: ready line and file, counters, signals, bad options; and how little memory millions of files take."""

import json
import os
import signal
import socket
import subprocess

import pytest
from support import bare_nfs as nfs
from support.bare_nfs import Client
from support.process import wait_for


def run(bin, *arguments):
    return subprocess.run([bin / "nfscurve-target", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20)


def test_one_line_and_a_file_say_that_it_is_ready(target):
    server = target("--export", "/one", "--export", "/two", "--data", "synth")
    assert server.program.out.count("\n") == 1
    for part in (server.address, f"port {server.port}", "/one", "synth"):
        assert part in server.program.out
    assert server.facts == {"address": "127.0.0.1", "port": server.port, "pid": server.pid, "export": "/one", "exports": ["/one", "/two"]}
    client = Client(server.address, server.port)
    assert client.mount("/one") != client.mount("/two")
    client.close()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_cleanly(target, sent):
    server = target()
    os.kill(server.pid, sent)
    server.program.wait(5)
    assert server.program.popen.returncode == 0
    with pytest.raises(OSError):
        socket.create_connection((server.address, server.port), 1)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_counters_by_operation_on_request(target, run_dir, threads):
    file = run_dir / "stats"
    server = target("--stats-file", file, "--threads", threads, "--fault", "access:index=2:status=NFS3ERR_IO")
    clients = [Client(server.address, server.port) for _ in range(3)]
    root = clients[0].mount(server.export)
    data = clients[0].create(root, "file")
    for client in clients:
        client.write(data, 0, bytes(1000))
        client.read(data, 0, 500)
        client.call(nfs.ACCESS, nfs.fh(root) + nfs.u32(1))
        assert client.lookup(root, "nothing") is None
        client.call(nfs.GETATTR, b"")
    os.kill(server.pid, signal.SIGUSR1)
    wait_for(file.exists, what="the counters")
    counted = json.loads(file.read_text())
    assert counted["ops"]["write"] == {"calls": 3, "errors": 0, "faults": 0}
    assert counted["ops"]["access"] == {"calls": 3, "errors": 1, "faults": 1}
    assert counted["ops"]["lookup"] == {"calls": 3, "errors": 3, "faults": 0}
    assert counted["ops"]["mnt"]["calls"] == 1
    assert (counted["read_bytes"], counted["write_bytes"], counted["garbage_args"]) == (1500, 3000, 3)
    file.unlink()
    for client in clients:
        client.close()
    assert server.stop() == 0
    assert json.loads(file.read_text())["ops"] == counted["ops"]


@pytest.mark.parametrize("arguments, named", [
    (["--port", "70000"], "70000"), (["--data", "tape"], "tape"), (["--latency", "fixed:fast"], "fixed:fast"), (["--latency", "curve:/no/such"], "/no/such"),
    (["--fault", "read:explode"], "explode"), (["--export", "relative"], "relative"), (["--export", "/a", "--export", "/a"], "/a"), (["--rtmax", "2MiB"], "2MiB"),
    (["--threads", "0"], "threads"), (["--control-file", "/no/such"], "/no/such"), (["word"], "word"), (["--nonsense"], "nonsense")])
def test_wrong_option_is_named_with_status_2(bin, arguments, named):
    done = run(bin, "--listen", "127.0.0.1", *(arguments if "--port" in arguments else ["--port", "0", *arguments]))
    assert done.returncode == 2 and named in done.stderr, done.stderr


def test_address_that_cannot_be_used_is_named_with_status_3(bin, target):
    server = target()
    done = run(bin, "--port", str(server.port))
    assert done.returncode == 3 and str(server.port) in done.stderr and "in use" in done.stderr
    done = run(bin, "--listen", "192.0.2.1", "--port", "0")
    assert done.returncode == 3 and "192.0.2.1" in done.stderr


def test_help_lists_every_option(bin):
    done = run(bin, "--help")
    assert done.returncode == 0 and done.stdout.count("\n  --") >= 20


def test_transfer_sizes_are_as_set(target):
    server = target("--rtmax", "32KiB", "--wtmax", "16KiB", "--dtpref", "8KiB")
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    r = client.call(nfs.FSINFO, nfs.fh(root)).reader()
    r.skip_attributes()
    assert [r.u32() for _ in range(7)] == [32768, 32768, 512, 16384, 16384, 512, 8192]
    file = client.create(root, "file")
    assert client.write(file, 0, bytes(65536))[0] == 16384
    assert len(client.read(file, 0, 65536)[0]) == 16384
    client.write(file, 16384, bytes(65536)), client.write(file, 32768, bytes(16384))
    assert len(client.read(file, 0, 65536)[0]) == 32768
    client.close()


def test_root_is_nobody_when_squashed(target):
    server = target("--root-squash", "--root-mode", "1777")
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    client.create(root, "file")
    results = client.call(nfs.LOOKUP, nfs.fh(root) + nfs.opaque("file")).reader()
    results.opaque()
    assert results.u32() == 1
    assert [results.u32() for _ in range(5)][3:] == [65534, 65534]
    client.close()


def test_synthesised_data_is_the_same_after_a_restart(target):
    def read_some():
        server = target("--data", "synth")
        client = Client(server.address, server.port)
        file = client.create(client.mount(server.export), "file", size=UINT)
        data = [client.read(file, offset, 5000)[0] for offset in (0, 123457, 5 << 30, UINT - 5000)]
        client.close()
        server.stop()
        return data

    UINT = 1 << 40
    first = read_some()
    assert first == read_some() and len(set(first)) == 4 and all(len(d) == 5000 for d in first)


def test_two_million_files_of_a_terabyte_fit_in_500_mb(target, bin, start):
    for build in (bin.parent / "build", bin.parent):
        probe = build / "tests" / "target" / "target_probe"
        if probe.exists():
            break
    else:
        pytest.skip("target_probe is not built")
    server = target("--data", "synth")
    done = start([probe, server.address, server.port, server.export, "populate", "66667", "30", "524288"])
    done.wait(100)
    assert done.popen.returncode == 0 and json.loads(done.out)["failed"] == 0
    with open(f"/proc/{server.pid}/status") as f:
        peak_kib = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    r = client.call(nfs.FSSTAT, nfs.fh(root)).reader()
    r.skip_attributes()
    total, free = r.u64(), r.u64()
    assert total - free == 66667 * 30 * 524288 > 10**12
    assert peak_kib * 1024 <= 500e6, f"{peak_kib} KiB"
    client.close()
