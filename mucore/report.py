"""What came of judging a user's own networks: tables, a pack, rows of a home, pages.

Rows are as those of runs: the unlearned networks stand as `uploaded`, the references under their
own names, the data set as `npz:NAME` with the hash of its content, the network as `own:NAME`.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from mucore import verdicts
from mucore.errors import BadValue
from mucore.forget_sets.saved import forget_hash
from mucore.judged import COST, Judged
from mucore.runner.execute import versions
from mucore.runs import RunSpec, make_recipe
from mucore.runs.spec import REVISION
from mucore.store import Store, open_store, write_pack
from mucore.store.records import Comparison, Result

OWN: Final = {"own": True}  # of pack.json: no suite's
NOTE: Final = "Judged as it was brought: network, Retrain and training are its user's."


@dataclass(frozen=True, repr=False)
class Report:
    """What `mucore.api.evaluate` found. `caveats` must be read beside the numbers; `missing` says
    of a metric why it is not there and what would unlock it; `forgotten` counts the forget set by
    class; `about` says what was forgotten of how much, and what intervals are.
    """

    verdict: verdicts.Verdict
    caveats: tuple[str, ...]
    missing: Mapping[str, str]
    forgotten: Mapping[int, int]
    about: str
    rows: Sequence[Mapping[str, Any]]
    networks: Sequence[Judged]
    train: Any  # `Samples` over `Inputs`
    gone: np.ndarray  # (n,) bool, of `train`
    classes_gone: tuple[int, ...]
    name: str  # of the network's class

    def table(self) -> pd.DataFrame:
        """One row a metric: means over training seeds, the gap to Retrain, and the 95 % interval
        (low, high) of the gap, of the value where there is none.
        """
        return pd.DataFrame([*self.rows])

    def save(self, path: str | Path, *, data: str = "data", model: str = "") -> Path:
        """Write a pack, a zip file, with rows and all predictions, under names of the data and of
        the network that pages show; `mucore app PACK` opens it, `mucore suite verify PACK`
        computes its numbers again. Raises `BadValue` where it cannot be written.
        """
        path = Path(path)
        if path.suffix != ".zip":
            raise BadValue(f"A pack is saved as a file that ends in .zip, but got {path.name}.")
        with tempfile.TemporaryDirectory() as place:
            with Store(Path(place) / "home", url="sqlite://") as store:
                keys = {*self.keep(store, data=data, model=model).keys}
                write_pack(store, Path(place) / "pack", outputs=keys, samples=None, beside=OWN)
            made = shutil.make_archive(f"{place}/made", "zip", Path(place) / "pack")
            try:
                shutil.copyfile(made, path)
            except OSError as error:
                raise BadValue(
                    f"The pack cannot be written to {path}: {error.strerror}. Choose another path."
                ) from error
        return path

    def show(self, *, port: int = 8501) -> None:
        """Open the dashboard on it, until Ctrl-C."""
        with tempfile.TemporaryDirectory() as place:
            pack = self.save(Path(place) / "mine.zip")
            command = [sys.executable, "-m", "mucore", "app", str(pack), "--port", str(port)]
            subprocess.run(command, check=False)

    def keep(
        self, home: Store | str | Path | None = None, *, data: str = "data", model: str = ""
    ) -> Comparison:
        """Put the rows among a home's results, as a comparison, which is returned."""
        store = home if isinstance(home, Store) else open_store(home)
        try:
            results = [*self._results(store, f"npz:{data}", f"own:{model or self.name}")]
            store.put_results(results)
            name = f"{model or self.name} on {data}, judged"
            keys = [each.key for each in results]
            return store.create_comparison(name, NOTE, {}, keys)
        finally:
            if store is not home:
                store.close()

    def _results(self, store: Store, data: str, model: str) -> Iterable[Result]:
        now, ids = datetime.now(UTC), np.flatnonzero(self.gone)
        references = [each for each in self.networks if each.method != "uploaded"]
        parameters: dict[str, Any] = {"class_ids": list(self.classes_gone)}
        if not self.classes_gone:
            parameters = {"ids": ids.tolist(), REVISION: 2}
        base = RunSpec(
            dataset=data,
            data_hash=digest({"x": self.train.images.x, "y": self.train.labels}),
            model=model,
            recipe=make_recipe("standard"),
            scenario="class_wise" if self.classes_gone else "ids",
            scenario_parameters=parameters,
            original_hash=digest(*(each.weights or {} for each in references)),
            method="original",
        )
        for each in self.networks:
            spec = base.on_seed(each.seed)
            if each.method == "retrain":
                spec = spec.retrained()
            elif each.method == "uploaded":
                file = {"file": digest(each.weights or {})}
                spec = spec.model_copy(update={"method": "uploaded", "parameters": file})
            yield Result(
                key=spec.key,
                model_key=spec.model_key,
                spec=spec.model_dump(mode="json"),
                status="ok",
                stop_reason=None,
                metrics=each.metrics,
                cost=COST,
                notes=(NOTE, *each.notes),
                flags=tuple(each.flags),
                confusion={name: part.confusion.tolist() for name, part in each.outputs.items()},
                forget_hash=forget_hash(ids),
                forget_count=len(ids),
                retain_count=len(self.gone) - len(ids),
                data_hash=spec.data_hash,
                versions=versions(),
                device=str(self.train.images.device),
                outputs=store.artifacts.put_outputs(each.outputs),
                started=now,
                finished=now,
            )

    def __repr__(self) -> str:
        doubt = " (an indication)" if self.verdict.provisional else ""
        return f"{self.verdict.said}{doubt}. {self.verdict.sentence}\n{self.about}"


def digest(*parts: Mapping[str, Any]) -> str:
    """SHA-256 of arrays or tensors by name."""
    found = hashlib.sha256()
    for name, values in (pair for part in parts for pair in sorted(part.items())):
        array = np.ascontiguousarray(values)
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.data)
    return found.hexdigest()
