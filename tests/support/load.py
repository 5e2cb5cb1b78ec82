"""load_one: load-generating processes without daemon and prime, against any server."""

import json

import pytest

from . import process


class Loaded:
    """What load_one printed."""

    def __init__(self, status, out, err):
        self.status, self.err = status, err
        self.json = json.loads(out) if out.strip() else {"error": status, "message": err, "loads": []}
        self.loads = self.json["loads"]

    @property
    def load(self):
        assert self.loads, self
        return self.loads[0]

    @property
    def anomalies(self):
        """Those that were seen."""
        return {name: n for name, n in self.load["anomalies"].items() if n}

    @property
    def rules(self):
        return {finding["rule"] for finding in self.json["findings"]}

    def outcomes(self, op):
        return self.load["ops"][op]["outcomes"]

    def __repr__(self):
        return f"exit status {self.status}: {self.json.get('message', '')}\n{self.err[-2000:]}\n{json.dumps(self.json, indent=1)[:6000]}"


def tool(bin):
    for build in (bin.parent / "build", bin.parent):
        if (build / "tests" / "load" / "load_one").exists():
            return build / "tests" / "load" / "load_one"
    pytest.skip("load_one is not built")


def runner(start, bin):
    """load(server, "--ops", 100, ..., workload="sfs3", keys={...}) -> Loaded."""

    def load(server, *arguments, workload="sfs3", keys=None, timeout_s=60, inside=None):
        spec = server if isinstance(server, dict) else server.spec()
        argv = [tool(bin), "--server", spec["server"], "--export", spec["export"], "--nfs-port", spec["nfs_port"], "--mount-port", spec["mount_port"],
                "--workload", workload, "--set", json.dumps(keys or {}), *arguments]
        program = start(argv, inside=inside)
        program.wait(timeout_s * process.PATIENCE)
        return Loaded(program.popen.returncode, program.out, program.err)

    return load
