"""Start the dashboard: a worker that computes and Streamlit that shows, watched until Ctrl-C.

    mucore app [--host 127.0.0.1] [--audience | --open] [--port 8501] [--no-browser] [--home DIR]
    [--device auto] [--workers 1]

or, in a checkout, `python run_app.py` with the same options. An address that others reach needs a
word on what they may do there (`mucore/hosting.py`).

Both are processes of their own. One that dies is started again; one that dies at once five times in
a row is not, and its log is named. If this program is killed, the worker finishes what it has, and
the next start takes a worker over that is still there.
"""

from __future__ import annotations

import argparse
import errno
import http.client
import importlib.util
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mucore import hosting, signals, unforeseen
from mucore.errors import said
from mucore.hosting import Hosting
from mucore.numbers import whole_number
from mucore.userfiles import paths

if TYPE_CHECKING:
    import psutil

    from mucore.store import Store

ROOT = Path(__file__).resolve().parents[1]  # of both packages
NEEDED = (
    "psutil",
    "numpy",
    "pandas",
    "sqlalchemy",
    "pydantic",
    "plotly",
    "segno",
    "streamlit",
    "torch",
    "torchvision",
    "safetensors",
    "cyclopts",
)
QUICK_SECONDS = 10.0  # a process that lives shorter than this failed to start
QUICK_DEATHS = 5
GRACE_SECONDS = 10.0  # from the polite request to end to the hard one
LEAST_FREE_BYTES = 50_000_000


class StartError(Exception):
    """Something that the person who starts the program can mend; the text is a sentence."""


class Child:
    """One process that is kept alive: started again when it dies, later and later, until it has
    died at once too often.
    """

    def __init__(self, name: str, start: Callable[[], subprocess.Popen], log: Path):
        self.name, self.log = name, log
        self._start = start
        self.process: subprocess.Popen | None = None
        self.quick_deaths = 0
        self.given_up = False
        self._born = 0.0
        self._not_before = 0.0

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def keep(self) -> None:
        """Start the process if it is not there and may be."""
        if self.given_up or self.alive():
            return
        now = time.monotonic()
        if self.process is not None:
            self.quick_deaths = self.quick_deaths + 1 if now - self._born < QUICK_SECONDS else 0
            code, self.process = self.process.returncode, None
            if self.quick_deaths >= QUICK_DEATHS:
                self.given_up = True
                say(
                    f"The {self.name} ended {QUICK_DEATHS} times at once (exit code {code}) and "
                    f"is not started again. {self.last_words()}"
                )
                return
            wait = 2.0 ** (self.quick_deaths - 1) if self.quick_deaths else 0.0
            self._not_before = now + wait
            say(
                f"The {self.name} ended (exit code {code}); starting it "
                f"again{f' in {wait:.0f} s' if wait else ''}."
            )
        if now >= self._not_before:
            self.process = self._start()
            self._born = time.monotonic()

    def last_words(self) -> str:
        """Where the log is, and its last line."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f"Log: {self.log}" + (f" ({lines[-1].strip()})" if lines else "")


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    try:
        _check_packages()
        folder = options.home or os.environ.get("MUCORE_HOME") or str(Path.home() / ".mucore")
        home = paths.path(folder, what="The home").resolve()
        served = hosting.decide(
            options.host,
            audience=options.audience,
            opened=options.open,
            login=_login(Path.home() / ".streamlit", ROOT / ".streamlit"),
        )
        _end_leftover_server(home)
        check_port(served.address, options.port)
        store = _open_store(home)
        return App(options, served, home, store).run()
    except StartError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception as error:  # the last step of this door: nobody gets to see a traceback
        print(unforeseen.told(error, "run_app.py"), file=sys.stderr)
        return 1


class App:
    """The running pair and everything that has to be ended with it."""

    def __init__(self, options: argparse.Namespace, served: Hosting, home: Path, store: Store):
        self.options, self.served, self.home, self.store = options, served, home, store
        self.stop = threading.Event()
        self.server = Child("dashboard", self._start_server, home / "logs" / "server.log")
        log = home / "logs" / "workers.log"
        self.workers = [Child("worker", self._start_worker, log) for _ in range(options.workers)]
        # workers that an earlier, killed start left behind: ours to end
        self.orphans: dict[int, psutil.Process] = {}

    def run(self) -> int:
        signals.on_end(lambda *_: self.stop.set())
        try:
            self.server.keep()
            self._keep_workers()
            self._take_up()
            self._note_processes()
            threading.Thread(target=self._announce, daemon=True).start()
            while not self.stop.wait(1.0):
                before = self.server.process
                self.server.keep()
                if self.server.given_up:
                    return 1
                self._keep_workers()
                if self.server.process is not before:
                    self._note_processes()
            say("\nEnding the dashboard and its worker.")
            return 0
        finally:
            self._end()

    # -- the server

    def _start_server(self) -> subprocess.Popen:
        served = self.served
        command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "dashboard" / "server.py")]
        command += ["--server.address", served.address, "--server.port", str(self.options.port)]
        command += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
        # else Streamlit asks a host on the internet what this machine is called
        command += ["--browser.serverAddress", hosting.reached_at(served.address)]
        # a name that a foreign site makes point here is none of this machine's own
        names = ("localhost", served.address) if served.terms == "own" else ("*",)
        for name in names:
            command += ["--server.allowedHosts", name]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "MUCORE_HOME": str(self.home), "PYTHONPATH": path}
        environment |= served.environment()
        # written relative to where we were started, and the child starts elsewhere
        if plugins := os.environ.get("MUCORE_PLUGINS"):
            environment["MUCORE_PLUGINS"] = os.pathsep.join(
                str(Path(folder).expanduser().resolve())
                for folder in plugins.split(os.pathsep)
                if folder.strip()
            )
        self.server.log.parent.mkdir(parents=True, exist_ok=True)
        with self.server.log.open("ab") as sink:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                **own_group(),
            )

    def _announce(self) -> None:
        """Print the address once pages are served, and open the browser on it. Not on the
        presenter's: every user of the machine could read it off the browser's command line.
        """
        host = hosting.reached_at(self.served.address)
        address = hosting.web_address(host, self.options.port)
        deadline = time.monotonic() + 90
        while not self.stop.is_set() and time.monotonic() < deadline:
            if _answers(host, self.options.port):
                say(f"mucore is at {address}   (results in {self.home}; Ctrl-C ends it)")
                for line in self.served.told(address):
                    say(line)
                if not (self.options.no_browser or self.served.key) and _has_screen():
                    webbrowser.open(address)
                return
            time.sleep(0.2)
        if not self.stop.is_set():
            say(f"The dashboard has not answered at {address} for 90 s. {self.server.last_words()}")

    # -- workers

    def _start_worker(self) -> subprocess.Popen:
        from mucore.runner.executors import start_worker

        threads = (
            None
            if self.options.workers <= 1
            else max(1, (os.cpu_count() or 1) // self.options.workers)
        )
        return start_worker(
            self.store, device=self.options.device, threads=threads, parent_pid=os.getpid()
        )

    def _take_up(self) -> None:
        """Analyses and searches that an earlier, killed start left behind go on, as runs do."""
        from mucore.errors import MucoreError
        from mucore.runner import apart

        try:
            apart.take_up(self.store)
        except MucoreError as error:
            say(str(error))

    def _keep_workers(self) -> None:
        """Keep as many workers as were asked for; those of others on the same store count."""
        if not self.workers:
            return
        from mucore.errors import MucoreError
        from mucore.store.liveness import host

        try:
            living = self.store.workers()
        except MucoreError as error:
            # a moment without disk space must not end the page that says so
            say(str(error))
            return
        mine = {
            child.process.pid
            for child in self.workers
            if child.process is not None and child.alive()
        }
        # on other machines processes have the same numbers
        here = {worker.id for worker in living if worker.id.startswith(f"{host()}-")}
        others = [one for one in living if not (one.id in here and one.pid in mine)]
        for worker in (one for one in others if one.id in here):
            if worker.pid not in self.orphans and (process := left_behind(worker.pid)) is not None:
                self.orphans[worker.pid] = process
                say(
                    f"A worker of an earlier start is still there (process {worker.pid}); it is "
                    "used."
                )
        wanted = max(0, len(self.workers) - len(others))
        for child in sorted(self.workers, key=lambda child: not child.alive())[:wanted]:
            child.keep()

    # -- the end

    def _note_processes(self) -> None:
        """Write down what runs, so that a later start can tidy up after a kill of this one."""
        server = self.server.process
        content = {
            "app": _identity(os.getpid()),
            "server": _identity(server.pid) if server is not None else None,
        }
        self._record().write_text(json.dumps(content), encoding="utf-8")

    def _record(self) -> Path:
        return self.home / f"app-{self.options.port}.json"

    def _end(self) -> None:
        import psutil

        processes = [
            child.process
            for child in (self.server, *self.workers)
            if child.process is not None and child.alive()
        ]
        trees = []
        for pid in (process.pid for process in processes):
            try:
                trees.append(psutil.Process(pid))
            except psutil.NoSuchProcess:
                pass
        end_all(trees + [process for process in self.orphans.values() if process.is_running()])
        for process in processes:
            process.wait()
        self._record().unlink(missing_ok=True)
        self.store.close()


def end_all(processes: list[psutil.Process]) -> None:
    """Ask processes to end, then end them and their children by force."""
    import psutil

    trees = list(processes)
    for process in processes:
        try:
            trees += process.children(recursive=True)
            if sys.platform == "win32":
                process.send_signal(signal.CTRL_BREAK_EVENT)
            else:
                process.terminate()
        except (psutil.NoSuchProcess, PermissionError, OSError):
            pass
    _, stubborn = psutil.wait_procs(trees, timeout=GRACE_SECONDS)
    for process in stubborn:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            pass
    psutil.wait_procs(stubborn, timeout=GRACE_SECONDS)


def left_behind(pid: int) -> psutil.Process | None:
    """The worker process `pid` if the start that it belongs to is gone, else None."""
    import psutil

    try:
        process = psutil.Process(pid)
        command = process.cmdline()
        if "--parent-pid" not in command[:-1]:
            return None  # started by hand: whoever started it ends it
        parent = int(command[command.index("--parent-pid") + 1])
        gone = (
            not psutil.pid_exists(parent)
            or psutil.Process(parent).create_time() > process.create_time()
        )
        return process if gone else None
    except (psutil.Error, ValueError):
        return None


def _end_leftover_server(home: Path) -> None:
    """End a Streamlit that a killed start left on a port; its pages come back with the new one."""
    import psutil

    for record in home.glob("app-*.json"):
        try:
            content = json.loads(record.read_text(encoding="utf-8"))
            if _process(content["app"]) is not None:
                continue  # that start is alive and well
            server = _process(content["server"])
            if server is not None:
                say(
                    "Ending the dashboard that an earlier start left behind (process "
                    f"{server.pid})."
                )
                end_all([server])
            record.unlink(missing_ok=True)
        except (OSError, ValueError, KeyError, TypeError, psutil.Error):
            continue  # not our record, or gone meanwhile: the port check has the last word


def _identity(pid: int) -> list[float]:
    import psutil

    return [pid, psutil.Process(pid).create_time()]


def _process(identity: Any) -> psutil.Process | None:
    """The process of a written-down identity, unless it ended (its number may have gone to another
    one).
    """
    import psutil

    if identity is None:
        return None
    pid, created = identity
    try:
        process = psutil.Process(int(pid))
        same = (
            abs(process.create_time() - float(created)) < 1.0
            and process.status() != psutil.STATUS_ZOMBIE
        )
        return process if same else None
    except psutil.NoSuchProcess:
        return None


def own_group() -> dict[str, Any]:
    """Arguments of Popen that keep a terminal's Ctrl-C away from a child: this program passes it on
    in order.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def check_port(host: str, port: int) -> None:
    """Raise `StartError` unless pages can be served there; a taken port comes with the next free
    one.
    """
    problem = _bind_error(host, port)
    if problem is None:
        return
    if isinstance(problem, socket.gaierror) or problem.errno == errno.EADDRNOTAVAIL:
        raise StartError(
            f"This machine has no address {host}. Use --host 127.0.0.1 for itself alone or --host "
            "0.0.0.0 for the network."
        )
    if problem.errno == errno.EACCES:
        raise StartError(
            f"Port {port} needs administrator rights. Choose one from 1024 on, such as --port 8501."
        )
    free = next(
        (
            other
            for other in range(port + 1, min(port + 100, 65536))
            if _bind_error(host, other) is None
        ),
        None,
    )
    way_out = (
        f"Start with --port {free}." if free is not None else "Choose another one with --port."
    )
    address = hosting.web_address(hosting.reached_at(host), port)
    raise StartError(
        f"Port {port} is in use, perhaps by a dashboard that runs already ({address}). {way_out}"
    )


def _bind_error(host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if sys.platform == "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:  # connections of the last start that are still closing do not block; a listener does
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _has_screen() -> bool:
    """Without one, Python may open a text browser in this very terminal."""
    return sys.platform in ("win32", "darwin") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def _check_packages() -> None:
    if tuple(map(int, platform.python_version_tuple()[:2])) < (3, 11):
        raise StartError(
            f"Python 3.11 or newer is needed, but this is {sys.version.split()[0]} "
            f"({sys.executable})."
        )
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        python = r".venv\Scripts\python" if sys.platform == "win32" else ".venv/bin/python"
        raise StartError(
            f"{sys.executable} lacks {', '.join(missing)}. Install what is needed, then start "
            "again:\n"
            "  python -m venv .venv\n"
            f"  {python} -m pip install -c constraints.txt -e .\n"
            f"  {python} run_app.py"
        )


def _login(*folders: Path) -> str:
    """What `hosting.login_problem` says of Streamlit's secrets in `folders`; later ones win."""
    content: dict[str, Any] = {}
    for file in (folder / "secrets.toml" for folder in folders):
        try:
            content |= tomllib.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise StartError(
                f"{file}, which says who may log in, cannot be read: {error}. Mend it, or take it "
                "away."
            ) from None
    return hosting.login_problem(content, authlib=importlib.util.find_spec("authlib") is not None)


def _open_store(home: Path) -> Store:
    sys.path.insert(0, str(ROOT))  # a checkout works without being installed
    from mucore.errors import MucoreError
    from mucore.store import open_store

    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = shutil.disk_usage(home).free
        if free < LEAST_FREE_BYTES:
            raise StartError(
                f"Only {free / 1e6:.0f} MB are free in {home}, too little for results. Free some, "
                "or choose another folder with --home."
            )
        return open_store(home)
    except MucoreError as error:
        raise StartError(str(error)) from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise StartError(
            f"The folder {home} cannot be used: {error.strerror}. Choose another one with --home."
        ) from None


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Start the mucore dashboard and its worker.")
    parser.add_argument(
        "--host",
        help="address to serve on (default: 127.0.0.1, this machine alone). One that others reach "
        "needs --audience, people who log in, or --open; see docs/hosting.md",
    )
    parser.add_argument(
        "--audience",
        action="store_true",
        help="others read; who has the presenter's key, printed at the start, does everything",
    )
    parser.add_argument("--open", action="store_true", help=hosting.OPEN)
    parser.add_argument("--port", type=_port, default=8501, help="port to serve on (default 8501)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--home", help="folder of store and artifacts (default: MUCORE_HOME, else ~/.mucore)"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument(
        "--workers",
        type=_count,
        default=1,
        help="worker processes on this machine; 0 only shows results",
    )
    return parser.parse_args(argv)


def _port(text: str) -> int:
    port = whole_number(text)
    if port is None or not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(
            f"a port is a number from 1 to 65535, but got {said(text)}"
        )
    return port


def _count(text: str) -> int:
    count = whole_number(text)
    if count is None or not 0 <= count <= 64:
        raise argparse.ArgumentTypeError(f"a number of workers from 0 to 64, but got {said(text)}")
    return count


def say(text: str) -> None:
    print(text, flush=True)
