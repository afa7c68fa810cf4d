"""The frozen records that the store gives and takes. Times are UTC, fractions are in 0..1, sizes
are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

JobKind = Literal["run", "analysis", "search"]
JobState = Literal["queued", "running", "done", "failed", "cancelled", "lost"]
# As in engine/run.py, which this module must not import; a column of text, so a store of an earlier
# version reads and takes all of them.
Status = Literal["ok", "diverged", "reverted", "unsolved"]
ACTIVE: tuple[JobState, ...] = ("queued", "running")
ENDED_WITHOUT_RESULT: tuple[JobState, ...] = ("failed", "cancelled", "lost")

# What jobs are taken by, the smallest first, as far as they may be: of a `Job`, and of columns.
turn = attrgetter("priority", "id")


@dataclass(frozen=True)
class Measured:
    """One metric of one run. Exactly one of `value` and `error` is set; `error` is a sentence: why
    it is missing, or how it failed.
    """

    value: float | None
    error: str | None = None
    # value minus Retrain's, same training seed and scenario; None for a reference or where that is
    # missing
    gap: float | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """A finished run."""

    key: str
    model_key: str
    spec: Mapping[str, Any]  # RunSpec.model_dump(mode="json"), effective parameters and seeds
    status: Status
    stop_reason: str | None
    metrics: Mapping[str, Measured]
    # seconds, steps, reads {"forget/backward": n}, prepared_seconds, prepared_for_request_seconds,
    # persistent_bytes, scratch_bytes, peak_memory_bytes, threads, shared_device; evaluation_seconds
    # on the clock and evaluation_processor_seconds (None off the CPU)
    cost: Mapping[str, Any]
    losses: tuple[float, ...] = ()  # mean training loss of each epoch
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # sanity flags, sentences
    # split -> counts (outputs.py) as lists; kept when files go
    confusion: Mapping[str, Any] = field(default_factory=dict)
    forget_hash: str | None = None
    forget_count: int = 0
    retain_count: int = 0
    data_hash: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)  # mucore, torch, numpy, ..., code
    device: str = ""
    precision: str = "fp32"
    outputs: str | None = None  # artifact name of the Outputs (Parquet); None when removed
    weights: str | None = None  # artifact name of the weights (safetensors)
    started: datetime | None = None
    finished: datetime | None = None
    demo: bool = False


@dataclass(frozen=True, kw_only=True)
class Job:
    """A row of the job table: a run on its way to a result, an analysis of runs, or a search of
    settings.

    `spec` of an analysis is what mucore/runner/analyses.py made of it, and `key` names its file;
    that of a search is made by mucore/tuning/jobs.py.
    """

    id: int
    kind: JobKind = "run"
    key: str
    spec: Mapping[str, Any]
    label: str
    state: JobState
    priority: int  # see `turn`
    needs: tuple[str, ...]  # keys whose jobs must have ended before
    comparison: int | None
    progress: float  # 0..1
    step: str
    losses: tuple[float, ...]
    deaths: int  # how many workers have died at it since its training wrote a checkpoint
    cancel_requested: bool
    worker: str | None
    error: str | None
    log: str | None  # name of the log file under <home>/logs
    queued: datetime
    started: datetime | None
    finished: datetime | None
    heartbeat: datetime | None
    waits_for: str | None = None  # what is waited for before the next try, "free space on the disk"
    not_before: datetime | None = None  # when the next try is, by the database's clock


@dataclass(frozen=True, kw_only=True)
class Worker:
    """A process that takes jobs."""

    id: str  # host-pid-hash of both and the start
    host: str
    pid: int
    pid_created: float  # psutil create_time
    device: str
    threads: int
    state: Literal["idle", "busy"]
    started: datetime
    heartbeat: datetime
    # of mucore and of libraries
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    # device_name, device_id (equal for one GPU or one machine's CPU), gpu_share; and as of the last
    # heartbeat memory_used and memory_total of the device in bytes, load of the machine's CPUs, 1
    # where each has one program to run
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A named thing a person makes: the grid that was asked for and the keys of its runs (shared
    with other comparisons).
    """

    id: int
    name: str
    note: str
    grid: Mapping[str, Any]
    keys: tuple[str, ...]
    created: datetime
    demo: bool = False


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A lesson that somebody holds before a room: where they are, whose results they show ("own" or
    "demo"), and the questions whose votes are over.
    """

    lesson: str
    step: int
    source: str
    revealed: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Model:
    """Weights that exist, by `RunSpec.model_key`: shared by all results that differ in evaluation
    only.
    """

    model_key: str
    spec: Mapping[str, Any]
    weights: str | None  # artifact name; None when retention removed it
    status: Status
    stop_reason: str | None
    cost: Mapping[str, Any]
    losses: tuple[float, ...]
    diagnostics: Mapping[str, float]
    notes: tuple[str, ...]
    device: str
    precision: str
    created: datetime
