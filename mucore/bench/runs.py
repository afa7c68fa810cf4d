"""One run of one method, measured: what it took in time, work and memory.

The original, the forget set and the training records are there before the clock starts, as they
are for a run of the queue (mucore/runner/execute.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from mucore import catalog, training
from mucore.bench.clock import Stopwatch, now
from mucore.engine.memory import give_back
from mucore.engine.run import Callbacks
from mucore.engine.state import state_bytes
from mucore.metrics import cost
from mucore.runner.execute import unlearn
from mucore.runner.session import Session
from mucore.runner.training_records import training_records
from mucore.spec import Recipe, RunSpec, make_spec
from mucore.userfiles import datasets


@dataclass(frozen=True)
class Setting:
    """What stays the same between the methods."""

    dataset: str
    model: str
    recipe: Recipe

    def spec(self, method: str) -> RunSpec:
        """A run with the authors' parameters that forgets a whole class or, of a method that serves
        no such request, as much of all. Raises `Refused`.
        """
        if catalog.serves(catalog.method(method), "class_wise"):
            return self.of(method, "class_wise", {"class_ids": (0,)})
        return self.of(method, "all_classes", {"budget": 0.1})

    def of(
        self,
        method: str,
        scenario: str,
        scenario_parameters: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
    ) -> RunSpec:
        return make_spec(
            dataset=self.dataset,
            data_hash=datasets.data_hash(self.dataset),
            model=self.model,
            recipe=self.recipe,
            scenario=scenario,
            scenario_parameters=scenario_parameters,
            method=method,
            parameters=parameters,
        )


def measure(spec: RunSpec, session: Session, *, limit: float | None = None) -> dict[str, Any]:
    """Figures of one run, in seconds, samples and bytes. Raises what the run raises, `Cancelled`
    where it took longer than `limit` seconds.
    """
    original, _ = session.original(spec)
    seed = spec.training_seed if spec.method == "retrain" else spec.unlearning_seed
    ends = float("inf")
    run = session.run(spec, seed, Callbacks(cancelled=lambda: now(session.device) > ends))
    forget = session.forget_set(spec, original, run)
    data = session.unlearning_data(spec, forget)
    if spec.method != "retrain":
        records = training_records(session, spec, original, forget, run)
        data = replace(data, record=data.record | records)
    give_back()  # the clock of a run does so; here it is in nobody's seconds
    if limit is not None:
        ends = now(session.device) + limit
    with Stopwatch(session.device) as watch:
        model: nn.Module = (
            training.retrain(spec, run, session.splits(spec), data.retain)
            if spec.method == "retrain"
            else unlearn(spec, original, data, run)
        )
    del model
    reads = run.cost.reads
    return {
        "seconds": watch.seconds,
        "forward": sum(count for name, count in reads.items() if name.endswith("/forward")),
        "backward": sum(count for name, count in reads.items() if name.endswith("/backward")),
        "steps": run.cost.steps,
        "prepared": run.cost.prepared_seconds + run.cost.prepared_for_request_seconds,
        "scratch": run.cost.scratch_bytes,
        "persistent": run.cost.persistent_bytes,
        "peak": run.cost.peak_memory_bytes or 0,
        "copy": state_bytes(original),
        "forgotten": len(data.forget),
        "samples": len(data.forget) + len(data.retain),
        "status": run.status,
    }


def work(figures: Mapping[str, Any]) -> float:
    """Passes of a sample through the network, as a run's cost counts them."""
    reads = {f"all/{kind}": figures[kind] for kind in ("forward", "backward")}
    return cost.work(cost={"reads": reads})


def one_line(problem: BaseException) -> str:
    text = " ".join(str(problem).split()) or type(problem).__name__
    return text if len(text) <= 200 else f"{text[:197]}..."
