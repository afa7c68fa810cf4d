"""The launcher: it refuses what cannot work in one sentence, keeps both processes alive, and leaves
nothing behind.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from waiting import wait_for

from mucore import hosting, launcher, processes, start_checks
from mucore.store import Store, open_store

ROOT = Path(__file__).resolve().parents[1]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Launched:
    """run_app.py as a process, with what it printed."""

    def __init__(self, home: Path, port: int, *arguments: str):
        self.home, self.port = home, port
        self.output = home.parent / f"{home.name}-{time.monotonic_ns()}.txt"
        flags = f"--home {home} --port {port} --no-browser --device cpu"
        command = [sys.executable, "run_app.py", *flags.split(), *arguments]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with self.output.open("wb") as sink:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=sink, stderr=sink
            )

    def said(self, text: str) -> bool:
        assert self.process.poll() is None or text in self.output.read_text(), (
            self.output.read_text()
        )
        return text in self.output.read_text()

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, word: str) -> psutil.Process:
        return next(child for child in self.children() if word in child.cmdline())

    def serves(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("GET", "/")
            return connection.getresponse().status == 200
        return False

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=40)


@pytest.fixture
def launch(tmp_path) -> Iterator[Callable[..., Launched]]:
    started: list[Launched] = []

    def start(*arguments: str, home: str = "home", port: int | None = None) -> Launched:
        started.append(Launched(tmp_path / home, port or free_port(), *arguments))
        return started[-1]

    yield start
    for app in started:
        trees = []
        with contextlib.suppress(psutil.NoSuchProcess):
            trees = [*app.children(), psutil.Process(app.process.pid)]
        for process in trees:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        app.process.wait()


def alone(store: Store) -> bool:
    return len(store.workers()) == 1


# -- refusals


def test_a_port_in_use_is_told_before_anything_starts(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert (
            launcher.main(["--port", str(port), "--home", str(tmp_path / "home"), "--no-browser"])
            == 2
        )
    error = capsys.readouterr().err
    assert f"Port {port} is in use" in error and "--port" in error.partition("in use")[2]
    assert not (tmp_path / "home").exists()


def test_a_missing_package_comes_with_the_lines_that_install_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "mucore.store", None)
    arguments = ["--no-browser", "--home", str(tmp_path), "--port", str(free_port())]
    assert launcher.main(arguments) == 2
    error = capsys.readouterr().err
    assert "mucore.store" in error and "pip install -c constraints.txt -e ." in error


def test_a_foreign_store_is_refused(tmp_path, capsys):
    (tmp_path / "store.sqlite").write_bytes(b"this is no database " * 100)
    assert launcher.main(["--port", str(free_port()), "--home", str(tmp_path), "--no-browser"]) == 2
    assert "store.sqlite" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--port", "0"], ["--port", "x"], ["--workers", "-1"]])
def test_impossible_options_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        launcher.main(arguments)
    assert end.value.code == 2
    assert "but got" in capsys.readouterr().err


def test_folders_of_own_methods_are_found_from_the_servers_folder_too(tmp_path, monkeypatch):
    started: list[dict] = []
    monkeypatch.setattr(
        launcher.subprocess, "Popen", lambda command, **options: started.append(options)
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MUCORE_PLUGINS", os.pathsep.join(["mine", str(tmp_path / "more")]))
    options = argparse.Namespace(port=1, workers=1, device="auto")
    with open_store(tmp_path / "home") as store:
        launcher.App(options, hosting.decide(None), tmp_path / "home", store)._start_server()
    (options,) = started
    assert options["cwd"] != tmp_path
    assert options["env"]["MUCORE_PLUGINS"].split(os.pathsep) == [
        str(tmp_path / "mine"),
        str(tmp_path / "more"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--audience"),
        (["--host", "::"], "--open"),
        (["--host", ""], "no address ''"),
        (["--host", "no.such.host.invalid"], "no address 'no.such.host.invalid'"),
        (["--audience"], "--audience needs --host"),
        (["--open"], "--open needs --host"),
        (["--host", "0.0.0.0", "--open", "--audience"], "Choose one"),
    ],
)
def test_nothing_listens_before_it_is_said_who_may_do_what(arguments, words, tmp_path, capsys):
    arguments = [*arguments, "--port", str(free_port()), "--home", str(tmp_path / "home")]
    assert launcher.main([*arguments, "--no-browser"]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_secrets_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "secrets.toml").write_text("[auth")
    with pytest.raises(start_checks.StartError, match=r"secrets\.toml"):
        start_checks.login(tmp_path)
    assert start_checks.login(tmp_path / "none") == ""


@pytest.mark.parametrize("terms", ["own", "audience", "login", "open"])
def test_streamlit_is_told_where_it_is_and_never_asks(terms, tmp_path, monkeypatch):
    started: list[tuple[list[str], dict]] = []
    monkeypatch.setattr(
        launcher.subprocess, "Popen", lambda command, **options: started.append((command, options))
    )
    served = {
        "own": hosting.decide("127.0.0.2"),
        "audience": hosting.decide("0.0.0.0", audience=True),
        "login": hosting.decide("0.0.0.0", login="ready"),
        "open": hosting.decide("0.0.0.0", opened=True),
    }[terms]
    monkeypatch.setenv(hosting.KEY, "left by another start")
    with open_store(tmp_path / "home") as store:
        options = argparse.Namespace(port=1, workers=1, device="auto")
        launcher.App(options, served, tmp_path / "home", store)._start_server()
    ((command, given),) = started
    told = [
        (name.removeprefix("--"), value) for name, value in pairwise(command) if name[:2] == "--"
    ]
    assert ("server.address", served.address) in told
    assert ("browser.serverAddress", hosting.reached_at(served.address)) in told
    hosts = {value for name, value in told if name == "server.allowedHosts"}
    assert hosts == ({"localhost", "127.0.0.2"} if terms == "own" else {"*"})
    assert hosting.taken_over(given["env"]) == (terms, served.key)
    assert not served.key or served.key not in " ".join(command)


# -- keeping alive


def test_a_process_that_dies_at_once_is_given_up_after_five_times(tmp_path, monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(processes.time, "monotonic", lambda: now)
    log = tmp_path / "log.txt"
    log.write_text("first\nthe reason\n")
    starts: list[float] = []

    def start() -> subprocess.Popen:
        starts.append(now)
        process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
        process.wait()
        return process

    child = processes.Child("worker", start, log)
    while not child.given_up:
        child.keep()
        now += 0.5
    assert len(starts) == processes.QUICK_DEATHS
    pauses = [later - earlier for earlier, later in zip(starts, starts[1:], strict=False)]
    assert pauses == sorted(pauses) and pauses[-1] >= 8
    said = capsys.readouterr().out
    assert "is not started again" in said and str(log) in said and "the reason" in said
    child.keep()
    assert len(starts) == processes.QUICK_DEATHS


def test_a_process_that_lived_is_started_again_at_once(tmp_path, monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(processes.time, "monotonic", lambda: now)
    started: list[subprocess.Popen] = []

    def start() -> subprocess.Popen:
        started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
        return started[-1]

    child = processes.Child("worker", start, tmp_path / "log.txt")
    for _ in range(7):
        child.keep()
        assert child.alive()
        started[-1].kill()
        started[-1].wait()
        now += 100
    assert len(started) == 7 and not child.given_up and child.quick_deaths == 0
    capsys.readouterr()


@posix_only
@pytest.mark.slow
def test_both_live_until_ctrl_c(launch):
    """Serve, survive the death of either child, end all."""
    app = launch()
    wait_for(lambda: app.said("mucore is at"))
    assert f"http://127.0.0.1:{app.port}" in app.output.read_text() and app.serves()
    with open_store(app.home) as store:
        wait_for(lambda: alone(store))
        first = store.workers()[0].pid
        psutil.Process(first).kill()
        wait_for(lambda: alone(store) and store.workers()[0].pid != first)

        server = app.child("streamlit")
        server.kill()
        wait_for(
            lambda: any(
                "streamlit" in child.cmdline() for child in app.children() if child != server
            )
        )
        wait_for(app.serves)

        family = app.children()
        assert app.end() == 0
        assert not [
            child
            for child in family
            if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
        ]
        assert store.workers() == []
    assert "Traceback" not in app.output.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the port is in use")
@pytest.mark.slow
def test_the_server_ends_with_a_killed_launcher_and_the_worker_with_an_empty_queue(launch):
    killed = launch()
    wait_for(lambda: killed.said("mucore is at"))
    with open_store(killed.home) as store:
        wait_for(lambda: alone(store))
        killed.process.kill()
        killed.process.wait()
        wait_for(lambda: not killed.serves() and store.workers() == [], 30)
    again = launch(port=killed.port)
    wait_for(lambda: again.said("mucore is at"))
    assert again.end() == 0
