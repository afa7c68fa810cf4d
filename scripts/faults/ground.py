"""Where the campaign takes place: a comparison that is computed under fire, the processes that
compute it, and what is looked at afterwards.

The same comparison is computed once without trouble. What comes of it under fire has to be the
same bit for bit: weights and predictions, whose files are named by their content, and all numbers
but those of time and memory. A trigger in the database counts every result that is written or
removed, so nothing that happens between two looks is missed.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psutil
import sqlalchemy as sa

from faults import servers
from faults.processes import Process
from mucore import catalog
from mucore.runner.plan import Grid, MethodChoice, Plan, ScenarioChoice, launch, make_plan
from mucore.store import Store, open_store
from mucore.store.rows import ACTIVE, Job, Result

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 900.0  # seconds until somebody who waits gives up; a busy machine takes long
MARK = "MUCORE_CAMPAIGN"  # in the environment of every process of a campaign
INTERRUPTED = threading.Event()  # somebody wants the campaign to end: nothing is waited for
OWN = "under_fire"  # a method of a user's own that is part of the comparison

# A comparison of half a minute: two trainings, and methods of several kinds.
GRID = Grid(
    dataset="digits",
    model="mlp",
    preset="quick",
    recipe={"epochs": 12},
    scenarios=[ScenarioChoice(id="one_class")],
    methods=[MethodChoice(id=name) for name in ("finetune", "scrub", "ssd", OWN)],
)
# The same on the command line.
FLAGS = (
    "--dataset digits --model mlp --preset quick --scenario one_class --methods finetune,scrub,ssd,"
    f"{OWN} --set recipe.epochs=12 --device cpu"
).split()

_METHOD = f'''
"""Fine-tuning, as a user might write it."""

from mucore.catalog import MethodCard
from mucore.engine.loop import Optimizer, Phase, fit

CARD = MethodCard(
    id="{OWN}", title="Under fire", family="own", source="the fault campaign",
    summary="Three epochs on the retain set.", reads=frozenset({{"retain"}}),
)

SGD = Optimizer(lr=0.01)


def {OWN}(model, data, run):
    fit(model, [Phase(data=data.retain, batch_size=64)], run, epochs=3, optimizer=SGD)
    return model.eval()
'''


@dataclass
class Tally:
    """What was done in one group, and what became of the promises. `broken` are sentences."""

    did: Counter[str] = field(default_factory=Counter)
    planned: int = 0
    done: int = 0
    lost: int = 0
    twice: int = 0
    unequal: int = 0
    broken: list[str] = field(default_factory=list)
    skipped: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "did": dict(self.did), "broken": list(self.broken)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Tally:
        tally = cls(**content)
        tally.did = Counter(tally.did)
        return tally

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        wrong = self.lost or self.twice or self.unequal or self.broken
        return not wrong and self.done == self.planned


class Skipped(Exception):
    """A group that cannot take place on this machine; the text says why."""


class Ground:
    """A folder with the undisturbed results, a Postgres server if one is wanted, and every process
    that was started. Use it in a `with` block, which ends all of them.
    """

    def __init__(self, folder: Path, *, short: bool):
        self.folder, self.short = folder, short
        self.canary = folder / "a script has run"  # what hostile files would write
        self.processes: list[Process | subprocess.Popen] = []
        self._stack, self._lock = ExitStack(), threading.Lock()
        self._server: servers.Server | None = None
        self._undisturbed: dict[str, tuple[Any, ...]] = {}

    def __enter__(self) -> Ground:
        methods = self.folder / "methods"
        methods.mkdir(parents=True, exist_ok=True)
        (methods / f"{OWN}.py").write_text(_METHOD, encoding="utf-8")
        self.canary.unlink(missing_ok=True)
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        os.environ |= {
            MARK: str(self.folder),
            "MUCORE_PLUGINS": str(methods),
            "OMP_NUM_THREADS": "1",  # as many add up the same numbers in the same order
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }
        for name in ("MUCORE_HOME", "MUCORE_STORE_URL", "MUCORE_ARTIFACTS"):
            os.environ.pop(name, None)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.poll() is None:
                kill(process)
        for each in self.left_over():
            with contextlib.suppress(psutil.Error):
                each.kill()
        self._stack.close()

    # -- processes

    def start(self, *words: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
        """`python -m mucore` with these arguments, as from a shell; what it says can be read."""
        process = subprocess.Popen(
            [sys.executable, "-m", "mucore", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd=folder,
        )
        self.processes.append(process)
        return process

    def worker(self, store: Store) -> Process:
        """A worker on one thread. It ends with this process once nothing is left to do."""
        words = ["worker", "--device", "cpu", "--threads", "1", "--parent-pid", str(os.getpid())]
        limits = {name: value for name, value in os.environ.items() if name.startswith("MUCORE_")}
        if store.url:
            limits["MUCORE_STORE_URL"] = store.url
        log = self.folder / "workers.log"  # not in the home, whose disk may be full
        worker = Process([*words, "--home", str(store.home)], log, limits)
        self.processes.append(worker)
        return worker

    def left_over(self) -> list[psutil.Process]:
        """Processes of this campaign that outlived the one that started them, by ten seconds: an
        end takes a moment on a busy machine, and another round may have dealt one just now.
        """
        found, until = self._orphans(), time.monotonic() + 10.0
        while found and time.monotonic() < until:
            time.sleep(0.2)
            still = set(self._orphans())
            found = [each for each in found if each in still]
        return found

    def _orphans(self) -> list[psutil.Process]:
        here, found = os.getpid(), []
        for each in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                ours = each.environ().get(MARK) == str(self.folder)
                # servers of their own; a browser's crash handlers leave their parent by design
                ours = ours and not each.name().startswith(("postgres", "chrom"))
                if ours and here not in {each.pid, *(parent.pid for parent in each.parents())}:
                    found.append(each)
        return found

    def server(self) -> servers.Server:
        """The Postgres server, started when it is first asked for. Raises `Skipped`."""
        with self._lock:
            if self._server is None:
                try:
                    self._server = self._stack.enter_context(servers.running_server())
                except servers.NoServer as reason:
                    raise Skipped(str(reason)) from None
            return self._server

    def database(self) -> str:
        """The address of an empty database on the server. Raises `Skipped`."""
        import psycopg

        url = self.server().url
        name = f"campaign_{time.time_ns()}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # ty: ignore[no-matching-overload]
        return url.replace("/postgres?", f"/{name}?")

    # -- results

    def undisturbed(self) -> dict[str, tuple[Any, ...]]:
        """What the comparison comes to where nobody disturbs it, by key."""
        if not self._undisturbed:
            with open_store(self.folder / "undisturbed") as store:
                plan = make_plan(GRID, store)
                launch(plan, store, name="undisturbed")
                worker = self.worker(store)
                wait_for(lambda: not store.jobs(states=ACTIVE), "the undisturbed comparison")
                worker.end()
                results = store.results(keys=plan.keys)
                assert len(results) == len(plan.keys), [job.error for job in store.jobs()]
            self._undisturbed = {result.key: content(result) for result in results}
        return self._undisturbed

    @contextmanager
    def field(
        self,
        tally: Tally,
        *,
        url: str | None = None,
        home: Path | None = None,
        grid: Grid = GRID,
    ) -> Generator[Field]:
        """The comparison, or a part of it, in a home of its own, which goes at the end, once it was
        judged.
        """
        undisturbed = self.undisturbed()
        home = home or self.folder / f"home-{time.time_ns()}"
        try:
            with open_store(home, url=url) as store:
                plan = make_plan(grid, store)
                wanted = {key: undisturbed[key] for key in plan.keys}
                fired_at = Field(self, store, plan, wanted)
                try:
                    yield fired_at
                    fired_at.judge(tally)
                finally:
                    for worker in fired_at.workers:
                        worker.kill()
        finally:
            shutil.rmtree(home, ignore_errors=True)


class Field:
    """One comparison under fire: its store, its plan and its workers."""

    def __init__(
        self, ground: Ground, store: Store, plan: Plan, wanted: Mapping[str, tuple[Any, ...]]
    ):
        self.ground, self.store, self.plan, self.wanted = ground, store, plan, wanted
        self.workers: list[Process] = []
        self.allowed = {"done"}  # how jobs may have ended
        self.rewritten = False  # whether results may be written again, their numbers unchanged
        _count_writes(store)

    def launch(self) -> None:
        launch(self.plan, self.store, name="under fire")

    def keep(self, count: int) -> None:
        """Start workers until so many live."""
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) < count:
            self.start_worker()

    def start_worker(self) -> Process:
        worker = self.ground.worker(self.store)
        self.workers.append(worker)
        return worker

    def job_of(self, worker: Process) -> Job | None:
        """The job that a worker has in hand."""
        for job in self.store.jobs(states=["running"]):
            if f"-{worker.pid}-" in (job.worker or ""):
                return job
        return None

    def settled(self) -> bool:
        return not self.store.jobs(states=ACTIVE, limit=1)

    def caught(self, worker: Process) -> Job | None:
        """The job that a worker has in hand, once it has one; None where nothing is left to do."""
        wait_for(
            lambda: self.job_of(worker) or self.settled() or worker.poll() is not None,
            "a worker to take a job",
        )
        return self.job_of(worker)

    def finish(self) -> None:
        """Let workers do the rest without trouble, and end them."""
        self.keep(2)
        wait_for(self.settled, "the rest of the comparison")
        for worker in self.workers:
            worker.end()

    def judge(self, tally: Tally) -> None:
        """Compare what is stored with what was promised."""
        keys = list(self.wanted)
        found = {result.key: content(result) for result in self.store.results(keys=keys)}
        tally.planned += len(keys)
        tally.done += len(found)
        tally.unequal += sum(found[key] != self.wanted[key] for key in found)
        written, removed = _writes(self.store)
        tally.lost += sum(removed[key] >= written[key] for key in written)
        if not self.rewritten:
            tally.twice += sum(written[key] > 1 for key in keys)
        for job in self.store.jobs():
            if job.key in self.wanted and job.state not in self.allowed:
                tally.broken.append(f"{job.label} ended as {job.state}: {job.error}")
        if rows := self.store.workers():
            tally.broken.append(f"{len(rows)} workers that have ended still count as living")


# -- what is looked at


def content(result: Result) -> tuple[Any, ...]:
    """All of a result that does not depend on time and memory."""
    numbers = {
        name: (m.value, m.gap, m.error)
        for name, m in result.metrics.items()
        if catalog.metric(name).group != "cost"
    }
    return (
        result.status,
        result.stop_reason,
        result.weights,
        result.outputs,
        numbers,
        result.losses,
        dict(result.confusion),
        (result.forget_hash, result.forget_count, result.retain_count, result.data_hash),
    )


def _count_writes(store: Store) -> None:
    """Have the database note each result that is written or removed, whoever does it."""
    table = "CREATE TABLE campaign (key TEXT NOT NULL, removed INTEGER NOT NULL)"
    sqlite = [
        f"CREATE TRIGGER campaign_{what} AFTER {what} ON result BEGIN "
        f"INSERT INTO campaign VALUES ({row}.key, {removed}); END"
        for what, row, removed in (("INSERT", "NEW", 0), ("DELETE", "OLD", 1))
    ]
    postgres = [
        "CREATE FUNCTION campaign_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF TG_OP = 'INSERT' THEN INSERT INTO campaign VALUES (NEW.key, 0); "
        "ELSE INSERT INTO campaign VALUES (OLD.key, 1); END IF; RETURN NULL; END $$",
        "CREATE TRIGGER campaign_note AFTER INSERT OR DELETE ON result FOR EACH ROW "
        "EXECUTE FUNCTION campaign_note()",
    ]
    with store.write() as connection:
        for statement in (table, *(sqlite if store.sqlite else postgres)):
            connection.exec_driver_sql(statement)


def _writes(store: Store) -> tuple[Counter[str], Counter[str]]:
    """How often the result of each key was written, and removed."""
    with store.read() as connection:
        rows = connection.execute(sa.text("SELECT key, removed FROM campaign")).all()
    written, removed = (Counter(key for key, gone in rows if gone == which) for which in (0, 1))
    return written, removed


# -- time


def wait_for(condition: Callable[[], T | None], what: str, seconds: float = PATIENCE) -> T:
    """What `condition` gives once that is true. Raises `TimeoutError`."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        if INTERRUPTED.wait(0.1):
            raise Skipped("The campaign was interrupted.")
    raise TimeoutError(f"waited {seconds:g} s in vain for {what}")


def pick(rng: random.Random, seconds: float) -> float:
    """A pause of up to so many seconds."""
    return rng.uniform(0.0, seconds)


def kill(process: Process | subprocess.Popen) -> None:
    """End a process at once."""
    process.kill()
    if isinstance(process, subprocess.Popen):
        process.wait()


Round = Callable[[Ground, random.Random, Tally, int], None]


@dataclass(frozen=True)
class Group:
    """One kind of trouble. `round` makes some of it, `most` times at most; the campaign goes on
    until `count` of them (`short` of them in the short form) were made, counted by `did`.
    """

    id: str
    title: str
    round: Round
    count: int
    short: int
    counted: Sequence[str]  # the kinds in `Tally.did` that count

    def so_far(self, tally: Tally) -> int:
        return sum(tally.did[kind] for kind in self.counted)
