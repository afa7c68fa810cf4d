"""Start the dashboard: a worker that computes and Streamlit that shows, watched until Ctrl-C.

    mucore app [PACK] [--host 127.0.0.1] [--audience | --open] [--port 8501] [--no-browser]
    [--home DIR] [--device auto] [--workers 1]

or, in a checkout, `python run_app.py` with the same options. An address that others reach needs a
word on what they may do there (`mucore/hosting.py`).

Both are processes of their own. One that dies is started again; one that dies at once five times in
a row is not, and its log is named. If this program is killed, the worker finishes what is queued.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mucore import hosting, signals, unforeseen
from mucore.errors import Unforeseen, said
from mucore.hosting import Hosting
from mucore.numbers import whole_number
from mucore.processes import Child, end_all, own_group, say
from mucore.start_checks import ROOT, StartError, check_port, login, open_home
from mucore.userfiles import paths

if TYPE_CHECKING:
    from mucore.store import Store


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    with contextlib.ExitStack() as stack:
        if options.pack:
            options.home = stack.enter_context(tempfile.TemporaryDirectory())
            options.workers = 0
        return _started(options)


def _started(options: argparse.Namespace) -> int:
    try:
        folder = options.home or os.environ.get("MUCORE_HOME") or str(Path.home() / ".mucore")
        home = paths.path(folder, what="The home").resolve()
        served = hosting.decide(
            options.host,
            audience=options.audience,
            opened=options.open,
            login=login(Path.home() / ".streamlit", ROOT / ".streamlit"),
        )
        check_port(served.address, options.port)
        store = open_home(home)
        if options.pack:
            from mucore.store.pack import bring
            from mucore.suite.pack import unpacked

            with unpacked(Path(options.pack)) as place:
                bring(place, store)
        return App(options, served, home, store).run()
    except StartError as error:
        print(error, file=sys.stderr)
        return 2
    except ImportError as error:
        print(
            f"{sys.executable}: {error}. Install what is needed, then start again:\n"
            "  python -m venv .venv\n"
            "  .venv/bin/python -m pip install -c constraints.txt -e .\n"
            "  .venv/bin/python run_app.py",
            file=sys.stderr,
        )
        return 2
    except Exception as error:  # the last step of this door: nobody gets to see a traceback
        sentence = unforeseen.told(error, "run_app.py")
        print(sentence, file=sys.stderr)
        return 3 if isinstance(sentence, Unforeseen) else 2


class App:
    """The running pair and everything that has to be ended with it."""

    def __init__(self, options: argparse.Namespace, served: Hosting, home: Path, store: Store):
        self.options, self.served, self.home, self.store = options, served, home, store
        self.stop = threading.Event()
        self.server = Child("dashboard", self._start_server, home / "logs" / "server.log")
        log = home / "logs" / "workers.log"
        self.workers = [
            Child("worker", partial(self._start_worker, number), log)
            for number in range(options.workers)
        ]

    def run(self) -> int:
        signals.on_end(lambda *_: self.stop.set())
        try:
            self.server.keep()
            self._keep_workers()
            threading.Thread(target=self._announce, daemon=True).start()
            while not self.stop.wait(1.0):
                self.server.keep()
                if self.server.given_up:
                    return 1
                self._keep_workers()
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
                first = f"{address}/results" if self.options.pack else address
                say(f"mucore is at {first}   (results in {self.home}; Ctrl-C ends it)")
                for line in self.served.told(address):
                    say(line)
                if not (self.options.no_browser or self.served.key):
                    webbrowser.open(first)
                return
            time.sleep(0.2)
        if not self.stop.is_set():
            say(f"The dashboard has not answered at {address} for 90 s. {self.server.last_words()}")

    # -- workers

    def _start_worker(self, number: int) -> subprocess.Popen:
        from mucore.runner.spawn import start_worker, threads_of

        return start_worker(
            self.store,
            device=self.options.device,
            number=number,
            threads=threads_of(self.options.workers),
            parent_pid=os.getpid(),
        )

    def _keep_workers(self) -> None:
        """Keep as many workers as were asked for; those of others on the same store count."""
        if not self.workers:
            return
        from mucore.errors import MucoreError
        from mucore.store.workers import host

        try:
            living = {worker.id: worker.pid for worker in self.store.workers()}
        except MucoreError as error:
            # a moment without disk space must not end the page that says so
            say(str(error))
            return
        alive = [child.process.pid for child in self.workers if child.process and child.alive()]
        mine = [name for name, pid in living.items() if pid in alive and name.startswith(host())]
        wanted = max(0, len(self.workers) - len(living) + len(mine))
        for child in sorted(self.workers, key=lambda child: not child.alive())[:wanted]:
            child.keep()

    def _end(self) -> None:
        end_all([child.process for child in (self.server, *self.workers) if child.process])
        self.store.close()


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Start the mucore dashboard and its worker.")
    parser.add_argument(
        "--host",
        help="address to serve on (default: 127.0.0.1, this machine alone). One that others reach "
        "needs --audience, people who log in, or --open; see docs/hosting.md",
    )
    parser.add_argument(
        "pack", nargs="?", help="a pack of results, a folder or a zip, to look at instead of a home"
    )
    parser.add_argument(
        "--audience",
        action="store_true",
        help="others only read; whoever has the presenter's key, printed at the start, can do "
        "everything",
    )
    parser.add_argument("--open", action="store_true", help=hosting.OPEN)
    parser.add_argument(
        "--port", type=_from(1, 65535), default=8501, help="port to serve on (default 8501)"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--home", help="folder of store and artifacts (default: MUCORE_HOME, else ~/.mucore)"
    )
    parser.add_argument(
        "--device",
        default="auto",
        help="auto, cpu, cuda, cuda:1, mps, or several by comma, which the workers share",
    )
    parser.add_argument(
        "--workers",
        type=_from(0, 64),
        default=1,
        help="worker processes on this machine; 0 only shows results",
    )
    return parser.parse_args(argv)


def _from(low: int, high: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        found = whole_number(text)
        if found is None or not low <= found <= high:
            raise argparse.ArgumentTypeError(
                f"a whole number from {low} to {high} is needed, but got {said(text)}"
            )
        return found

    return number
