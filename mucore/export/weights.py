"""Weights of stored runs for other programs: a file with the state dict, or the network itself."""

from __future__ import annotations

import io
from pathlib import Path

import torch
from safetensors.torch import save as serialise
from torch import Tensor, nn

from mucore import training
from mucore.engine import ensemble
from mucore.errors import BadFile, BadValue
from mucore.files import write
from mucore.runner.session import Session
from mucore.runs import stored_spec
from mucore.store import Store
from mucore.store.records import Result

FORMATS = (".safetensors", ".pt", ".pth")


def find(store: Store, key: str) -> Result:
    """The result whose key is `key` or starts so. Raises `BadValue` where none or several do."""
    found = [one for one in store.results(metrics=False) if one.key.startswith(key)] if key else []
    if len(found) != 1:
        many = (
            f"{len(found)} results have keys that start with {key!r}"
            if found
            else f"No result has the key {key!r}"
        )
        raise BadValue(f"{many}. `python -m mucore results --json` prints the key of each run.")
    return found[0]


def save(store: Store, key: str, path: Path | str) -> Path:
    """Write the weights of a run to `path`, which is returned: names and shapes of its network's
    state dict, as safetensors or, with the ending .pt or .pth, in torch's format. `--original`, the
    method `uploaded` and `models.load_checkpoint` read either.

    Raises `BadValue` for another ending or a key that no run has, `BadFile` where the weights are
    gone, and `StoreError` where `path` cannot be written.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise BadValue(
            f"Weights are written to a file that ends in {', '.join(FORMATS)}, but got "
            f"{path.name!r}."
        )
    state = _state(store, find(store, key))
    if path.suffix == FORMATS[0]:
        content = serialise(state)
    else:
        file = io.BytesIO()
        torch.save(state, file)
        content = file.getvalue()
    write(path, content)
    return path


def load(store: Store, key: str, device: str = "auto") -> nn.Module:
    """The network of a run on `device`, in eval mode; an ensemble for SISA. Raises as `save` does.

    It takes images (n, c, h, w) as floats: pixels by 255, less the mean and by the std of
    `mucore.datasets.load(dataset)`.
    """
    result = find(store, key)
    spec, session = stored_spec(result.spec), Session(store, device)
    state, splits = _state(store, result), session.splits(spec)
    model = ensemble.restore(state, lambda: training.fresh_model(spec, splits, 0), splits.task)
    return model.to(session.device).eval()


def _state(store: Store, result: Result) -> dict[str, Tensor]:
    if result.weights is None:
        raise BadFile(
            f"The weights of {result.spec['method']} ({result.key[:8]}) were not kept, not packed "
            "(--weights), or removed to save space. Run it again to get them."
        )
    arrays = store.artifacts.get_arrays(result.weights)
    # what was stored is read-only
    return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
