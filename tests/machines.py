"""A Ray cluster of several machines that are all this one, each with a home and a host name of its
own, held by a process of its own: Ray warns, and keeps state, in a process that it is used from.

Run as a program it is that process: a line of JSON in, a line out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

TESTS = Path(__file__).parent
MEMORY = 80 * 2**20  # of a machine's object store, near the least that Ray takes


class Machines:
    """The first machine is Ray's head and has no CPUs to compute with; use it in a `with` block.

    `environment` is that of commands, `cluster` runs one of `mucore cluster`. `folder` holds the
    homes "machine-1", "machine-2", ..., unless all of them share `home`.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], *, home: Path | None = None):
        # short, because socket paths are limited to 107 bytes
        self._temporary = tempfile.mkdtemp(prefix="mray-")
        token = Path(self._temporary) / "token"
        token.write_text("0123456789abcdef" * 4)
        token.chmod(0o600)
        folder.mkdir(exist_ok=True)
        self.folder, self._home = folder, home
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (TESTS / "hostnames", TESTS.parent, TESTS))),
            "MUCORE_HOME": str(folder / "driver"),
            "TEST_HOST_NAME": "driver",
            "RAY_TMPDIR": self._temporary,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_worker_niceness": "0",  # else whatever runs beside the tests goes before
            "RAY_enable_worker_prestart": "0",
            "RAY_prestart_worker_first_driver": "0",
            "OMP_NUM_THREADS": "1",
            **environment,
        }
        self._number = 0
        with (folder / "ray.log").open("wb") as log:
            self._host = subprocess.Popen(
                [sys.executable, __file__],
                env={
                    name: what for name, what in self.environment.items() if name != "MUCORE_HOME"
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.address = self._do("add", cpus=0, gpus=0, environment={})

    def __enter__(self) -> Machines:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._host.poll() is None:
                self._host.communicate("", timeout=60)  # its end is that of all machines
        finally:
            self._host.kill()
            self._host.wait()
            for process in self.processes():
                process.kill()
            shutil.rmtree(self._temporary, ignore_errors=True)

    def add(self, cpus: int = 1, gpus: int = 0) -> str:
        """One more machine, by its name."""
        self._number += 1
        name = f"machine-{self._number}"
        own = {"TEST_HOST_NAME": name, "MUCORE_HOME": str(self._home or self.folder / name)}
        return self._do("add", cpus=cpus, gpus=gpus, environment=own, name=name)

    def remove(self, name: str) -> None:
        """Kill all processes of a machine; "head" is the first one."""
        self._do("remove", name=name)

    def cluster(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`mucore cluster COMMAND ARGUMENTS`, to its end."""
        return self.mucore("cluster", command, "--address", self.address, *arguments)

    def mucore(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mucore", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=400,
        )

    def popen(self, command: str, *arguments: str) -> subprocess.Popen[str]:
        """As `cluster`, but running."""
        return subprocess.Popen(
            [sys.executable, "-m", "mucore", "cluster", command]
            + ["--address", self.address, *arguments],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def status(self) -> list[dict[str, Any]]:
        done = self.cluster("status", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def processes(self) -> list[psutil.Process]:
        """The living processes of workers, on all machines."""
        found = []
        for process in psutil.process_iter():
            try:
                if (
                    process.cmdline()[:1] == ["ray::Member"]
                    and process.environ().get("RAY_TMPDIR") == self._temporary
                ):
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def logs(self) -> list[Path]:
        """All that Ray has written."""
        return [path for path in Path(self._temporary).rglob("*") if path.is_file()]

    def _do(self, what: str, **how: Any) -> str:
        assert self._host.stdin is not None and self._host.stdout is not None
        self._host.stdin.write(json.dumps({"what": what, **how}) + "\n")
        self._host.stdin.flush()
        line = self._host.stdout.readline()
        assert line, (self.folder / "ray.log").read_text()[-3000:]
        return json.loads(line)


def main() -> None:
    from ray.cluster_utils import Cluster

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Ray prints
    cluster, machines = Cluster(), {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["what"] == "add":
            name = asked.get("name", "head")
            machines[name] = cluster.add_node(
                num_cpus=asked["cpus"],
                num_gpus=asked["gpus"],
                object_store_memory=MEMORY,
                include_dashboard=False,
                include_log_monitor=False,
                env_vars=asked["environment"],
            )
            answer = cluster.address if name == "head" else name
        else:
            cluster.remove_node(machines.pop(asked["name"]), allow_graceful=False)
            answer = ""
        print(json.dumps(answer), file=answers, flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
