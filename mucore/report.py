"""What came of judging a user's own networks: tables, a pack, rows of a home, pages.

Rows are as those of runs: the unlearned networks stand as `uploaded`, the references under their
own names, the data set as `npz:NAME` with the hash of its content, the network as `own:NAME`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from mucore import verdicts
from mucore.errors import BadValue
from mucore.forget_sets.saved import forget_hash
from mucore.judged import COST, Asked, Judged, whole_classes
from mucore.runs import RunSpec, make_recipe
from mucore.runs.spec import REVISION
from mucore.store import Store, open_store, write_pack
from mucore.store.records import Comparison, Result
from mucore.suite.pack import zipped

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
    asked: Asked

    def table(self) -> pd.DataFrame:
        """One row a metric: means over training seeds, the gap to Retrain, and the 95 % interval
        (low, high) of the gap, of the value where there is none.
        """
        return pd.DataFrame([*self.rows])

    @property
    def pictures(self) -> list[str]:
        """The first forgotten images as data addresses of PNG; none of what is no image."""
        from PIL import Image

        drawn: Any = map(Image.fromarray, self.asked.pictures)
        coded = (base64.b64encode(each._repr_png_()).decode() for each in drawn)
        return [f"data:image/png;base64,{each}" for each in coded]

    def save(self, path: str | Path, *, data: str = "", model: str = "") -> Path:
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
            zipped(Path(place) / "pack", path)
        return path

    def show(self, *, port: int = 8501) -> None:
        """Open the dashboard on it, until Ctrl-C."""
        with tempfile.TemporaryDirectory() as place:
            pack = self.save(Path(place) / "mine.zip")
            command = [sys.executable, "-m", "mucore", "app", str(pack), "--port", str(port)]
            subprocess.run(command, check=False)

    def keep(
        self, home: Store | str | Path | None = None, *, data: str = "", model: str = ""
    ) -> Comparison:
        """Put the rows among a home's results, as a comparison, which is returned."""
        data, model = data or self.asked.data, model or self.asked.name
        with nullcontext(home) if isinstance(home, Store) else open_store(home) as store:
            results = [*self._results(store, f"npz:{data}", f"own:{model}")]
            store.put_results(results)
            keys = [each.key for each in results]
            return store.create_comparison(f"{model} on {data}, judged", NOTE, {}, keys)

    def _results(self, store: Store, data: str, model: str) -> Iterable[Result]:
        from mucore.runner.execute import versions  # PyTorch

        now, ids, content = datetime.now(UTC), self.asked.ids, self.asked.content
        references = [each for each in self.networks if each.method != "uploaded"]
        labels = (self.networks[0].outputs[name].labels for name in ("forget", "retain"))
        classes = whole_classes(*labels)
        parameters: dict[str, Any] = {"ids": ids.tolist(), REVISION: 2}
        base = RunSpec(
            dataset=data,
            data_hash=content if isinstance(content, str) else digest(content),
            model=model,
            recipe=make_recipe("standard"),
            scenario="class_wise" if classes else "ids",
            scenario_parameters={"class_ids": list(classes)} if classes else parameters,
            original_hash=digest(*map(_content, references)),
            method="original",
        )
        for each in self.networks:
            spec = base.on_seed(each.seed)
            if each.method == "retrain":
                spec = spec.retrained()
            elif each.method == "uploaded":
                file = {"file": digest(_content(each))}
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
                retain_count=self.asked.total - len(ids),
                data_hash=spec.data_hash,
                versions=versions(),
                device=self.asked.device,
                outputs=store.artifacts.put_outputs(each.outputs),
                started=now,
                finished=now,
            )

    def __repr__(self) -> str:
        doubt = " (indicated)" if self.verdict.provisional else ""
        lines = f"{self.verdict.said}{doubt}. {self.verdict.sentence}", self.about
        return "\n- ".join(["\n".join(lines), *self.caveats])

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, the first forgotten images, the table."""
        images = " ".join(f'<img src="{each}" height="84" alt="">' for each in self.pictures)
        lines = html.escape(repr(self)).replace("\n", "<br>")
        return f"<p>{lines}</p>{images}{self.table().to_html(na_rep='')}"


def _content(judged: Judged) -> Mapping[str, Any]:
    """What tells a network from others: its weights, else what it predicts."""
    return judged.weights or {name: part.logits for name, part in judged.outputs.items()}


def digest(*parts: Mapping[str, Any]) -> str:
    """SHA-256 of arrays or tensors by name."""
    found = hashlib.sha256()
    for name, values in (pair for part in parts for pair in sorted(part.items())):
        array = np.ascontiguousarray(values)
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.data)
    return found.hexdigest()
