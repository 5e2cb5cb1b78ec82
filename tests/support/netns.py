"""Hosts in network namespaces. Nothing of them is visible outside: no name, no device, no address, no mount.

        hub (bridge br0, 10.77.0.254)
         |         |         |
        h1        h2        server        each: own network, own /run, own host name
      10.77.0.1  10.77.0.2  10.77.0.3

A namespace lives as long as the process that holds it, and that dies with the test; the devices go with it.
"""

import os
import subprocess
from pathlib import Path

import pytest

from .process import Program, wait_for

_HOLD = """
set -e
hostname "$1"
mount -t tmpfs -o mode=755 tmpfs /run
ip link set lo up
echo held > "$2"
exec sleep infinity
"""


def why_not():
    """Why namespaces can't be made here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    done = subprocess.run(["unshare", "--net", "--mount", "--uts", "sh", "-c", "mount -t tmpfs tmpfs /run && ip link add v0 type veth peer name v1"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return None
    remedy = " (a chroot's directory must be a mount point: mount --bind DIR DIR before chroot)" if "propagation" in done.stdout else ""
    return f"network namespaces can't be made here: {done.stdout.strip()}{remedy}"


class Namespace:
    """One host. argv of a program that is to run there goes behind `enter`."""

    def __init__(self, name, directory):
        self.name = name
        self.directory = Path(directory)
        self.address = None
        flag = self.directory / f"{name}.held"
        self.holder = Program(["sh", "-c", _HOLD, "sh", name, flag], self.directory, f"host-{name}", prefix=["unshare", "--net", "--mount", "--uts"])

        def held():
            if not self.holder.running:  # nothing to stop then
                pytest.skip(why_not() or f"network namespaces can't be made here: {self.holder.err.strip()}")
            return flag.exists()

        wait_for(held, 10, f"namespace {name}")
        # --root, --wd: joining a mount namespace would otherwise lead out of a chroot
        self.enter = ["nsenter", f"--target={self.holder.pid}", "--net", "--mount", "--uts", "--root", "--wd"]

    def run(self, *argv):
        """Runs argv there to its end; its output. Fails the test when it fails."""
        done = subprocess.run(self.enter + [str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        assert done.returncode == 0, f"{self.name}: {' '.join(map(str, argv))}: {done.stdout}"
        return done.stdout

    def stop(self):
        self.holder.kill()


class Network:
    """A bridge and the hosts on it."""

    PREFIX = "10.77.0."

    def __init__(self, directory):
        self.directory = Path(directory)
        self.hub = Namespace("hub", directory)
        self.hosts = []
        self.hub.run("sh", "-c", f"ip link add br0 type bridge && ip link set br0 up && ip addr add {self.PREFIX}254/24 dev br0")
        self.hub.address = self.PREFIX + "254"

    def add(self, name):
        """A new host with the next address."""
        host = Namespace(name, self.directory)
        number = len(self.hosts) + 1
        host.address = f"{self.PREFIX}{number}"
        self.hub.run("sh", "-c", f"ip link add v{number} type veth peer name eth0 netns {host.holder.pid} && ip link set v{number} master br0 up")
        host.run("sh", "-c", f"ip addr add {host.address}/24 dev eth0 && ip link set eth0 up")
        self.hosts.append(host)
        return host

    def unplug(self, host):
        """Takes the cable out."""
        self.hub.run("ip", "link", "set", f"v{self.hosts.index(host) + 1}", "down")

    def plug(self, host):
        self.hub.run("ip", "link", "set", f"v{self.hosts.index(host) + 1}", "up")

    def stop(self):
        for host in self.hosts:
            host.stop()
        self.hub.stop()
