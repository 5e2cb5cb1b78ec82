"""nfs-ganesha on a temporary directory, in a network and mount namespace of its own, with an rpcbind of its own.

ganesha must register with rpcbind or it exits, and rpcbind wants port 111 and /run/rpcbind.sock: inside a namespace both are free. With loopback alone
ganesha finds no address to bind to (AI_ADDRCONFIG), so the namespace needs a device with an address. It reads /etc/mtab, which a minimal Debian lacks: the
namespace gets a copy of /etc with one. Its VFS layer exports no tmpfs, so the directory lies elsewhere when the test's own is one.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from . import netns
from .process import Program, wait_for

_CONFIG = """
NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = {nfs_port}; MNT_Port = {mount_port}; Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false; Bind_addr = {address}; }}
EXPORT {{ Export_Id = 2; Path = {path}; Pseudo = {path}; Access_Type = {access}; Squash = No_Root_Squash; SecType = sys; Protocols = 3; Transports = TCP;
  PrivilegedPort = false; FSAL {{ Name = {fsal}; }} }}
LOG {{ Default_Log_Level = EVENT; }}
"""


# Into the namespace only: a copy of /etc, on the namespace's own /run, with the link that Debian's full installation has.
_MTAB = "test -e /etc/mtab || { cp -a /etc /run/etc && ln -s /proc/self/mounts /run/etc/mtab && mount --bind /run/etc /etc; }"


def _directory_for_export(directory):
    """A new directory that ganesha's VFS layer can export, and how to remove it."""
    for parent in (directory, Path("/var/tmp"), Path(__file__).resolve().parents[2] / "build"):
        done = subprocess.run(["stat", "-f", "-c", "%T", parent], stdout=subprocess.PIPE, text=True)
        if done.returncode == 0 and done.stdout.strip() not in ("tmpfs", "overlayfs", "ramfs"):
            return Path(tempfile.mkdtemp(prefix="ganesha-export-", dir=parent))
    pytest.skip("no file system here that nfs-ganesha's VFS layer can export (tmpfs and overlays it can't)")


class Ganesha:
    """A running server. Programs that talk to it run behind `enter`, in its namespace."""

    NFS_PORT, MOUNT_PORT = 2049, 20048

    def __init__(self, directory, fsal="VFS", access="RW", host=None):
        self.directory, self.fsal, self.access = Path(directory), fsal, access
        self.host, self.owns_host = host, host is None
        self.nfs_port, self.mount_port = self.NFS_PORT, self.MOUNT_PORT
        self.rpcbind = self.server = self.export_dir = None

    def start(self):
        """Up and serving; skips the test where it can't be. stop() is right after any outcome."""
        for program in ("ganesha.nfsd", "rpcbind"):
            if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
                pytest.skip(f"{program} is not installed")
        reason = netns.why_not()
        if reason:
            pytest.skip(f"nfs-ganesha needs a namespace: {reason}")
        if self.owns_host:
            self.host = netns.Namespace("ganesha", self.directory)
            self.host.run("sh", "-c", "ip link add eth0 type veth peer name eth1 && ip link set eth0 up && ip link set eth1 up && ip addr add 10.77.1.1/24 dev eth0")
            self.host.address = "10.77.1.1"
        self.enter, self.address = self.host.enter, self.host.address
        self.host.run("sh", "-c", _MTAB)
        self.export_dir = _directory_for_export(self.directory)
        self.export = str(self.export_dir) if self.fsal == "VFS" else "/mem"
        config = self.directory / "ganesha.conf"
        config.write_text(_CONFIG.format(nfs_port=self.nfs_port, mount_port=self.mount_port, address=self.address, path=self.export, access=self.access, fsal=self.fsal))
        log = self.directory / "ganesha.log"
        self.rpcbind = Program(["rpcbind", "-w", "-f"], self.directory, prefix=self.enter)
        wait_for(lambda: self._runs(self.rpcbind) and self._answers("/run/rpcbind.sock"), 10, "rpcbind")
        # The paths must be absolute: ganesha changes to /. -F: stays in the foreground, so that its pid is ours.
        self.host.run("mkdir", "-p", "/run/ganesha", "/var/run/ganesha")
        self.server = Program(["ganesha.nfsd", "-F", "-f", config, "-L", log, "-p", self.directory / "ganesha.pid"], self.directory, prefix=self.enter)

        def up():
            assert self._runs(self.server), f"ganesha.nfsd ended: {self.server.err}{log.read_text() if log.exists() else ''}"
            text = log.read_text(errors="replace") if log.exists() else ""
            refused = re.search(r"vfs_create_export .*", text)
            if refused:
                pytest.skip(f"nfs-ganesha can't export {self.export}: {refused.group(0)}")
            return "NFS SERVER INITIALIZED" in text

        wait_for(up, 20, "nfs-ganesha")

    @staticmethod
    def _runs(program):
        assert program.running, f"{program.name} ended with status {program.popen.returncode}: {program.err}"
        return True

    def _answers(self, path):
        return subprocess.run(self.enter + ["test", "-S", path]).returncode == 0

    def campaign_target(self, name="ganesha", ports=True):
        """The entry of a campaign's "targets"; without ports the portmapper is asked."""
        return {"name": name, "server": self.address, "export": self.export, "nfs_port": self.nfs_port if ports else 0, "mount_port": self.mount_port if ports else 0}

    def stop(self):
        for program, timeout_s in ((self.server, 10), (self.rpcbind, 5)):
            if program:
                program.stop(timeout_s)
        if self.export_dir:
            shutil.rmtree(self.export_dir, ignore_errors=True)
        if self.owns_host and self.host:
            self.host.stop()
