"""Pretrained weights: from the user's file, else those that timm publishes, which are fetched once
and kept by its hub client.

They were trained on other images and often for another shape. What fits is taken: a stem with
another number of channels is summed over them, positions and patches of transformers are
interpolated as timm does, and a layer of another shape, such as the head for other classes or the
smaller stem for small images, keeps its fresh weights.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import timm
from torch import Tensor, nn

from mucore.errors import BadFile
from mucore.models import head_name
from mucore.models.checkpoints import fitted, read
from mucore.models.timm_models import TABLE
from mucore.userfiles import weights

# The published weights of the networks that are not timm's own here; layers of both have the same
# names.
PUBLISHED = {name: f"{entry.name}.{entry.tag}" for name, entry in TABLE.items()} | {
    "resnet18": "resnet18.tv_in1k",
    "resnet50": "resnet50.tv_in1k",
    "vgg11-bn": "vgg11_bn.tv_in1k",
    "vgg16-bn": "vgg16_bn.tv_in1k",
}
LEAST = 0.5  # share of the weights below which a file is taken to be another network's


def load_pretrained(model: nn.Module, name: str, *, file_hash: str = "") -> str:
    """Fill a network of `models.build(name, ...)` with pretrained weights and return a sentence on
    what was taken from where.

    `file_hash`: SHA-256 of the user's file when the run was planned. Raises `BadFile` where that
    file is gone or changed, where there is none and nothing can be fetched, or where less than half
    of the weights fit.
    """
    wanted, head = model.state_dict(), head_name(model)
    state, source = _read(name, file_hash, wanted)
    head_names = {f"{head}.weight", f"{head}.bias"}
    state = _reshaped(state, model, wanted)
    fitting = {
        key: t
        for key, t in state.items()
        if key in wanted and t.shape == wanted[key].shape and key not in head_names
    }
    if all(key in state and state[key].shape == wanted[key].shape for key in head_names):
        fitting |= {key: state[key] for key in head_names}
    parameters = {key: p.numel() for key, p in model.named_parameters() if key not in head_names}
    share = sum(count for key, count in parameters.items() if key in fitting) / sum(
        parameters.values()
    )
    if share < LEAST:
        raise BadFile(
            f"Only {100 * share:.0f} % of the weights of {name} are in {source}: they belong to "
            "another network, or to another size of images. Choose other weights, or train "
            "without them."
        )
    if any(not bool(t.isfinite().all()) for t in fitting.values() if t.is_floating_point()):
        raise BadFile(f"{source} holds weights that are not finite. Choose other weights.")
    model.load_state_dict({**wanted, **fitting})
    fresh = [key for key in parameters if key not in fitting]
    note = f"Started from pretrained weights: {source}. "
    if not head_names <= fitting.keys():
        note += f"The head is new, for {len(wanted[f'{head}.weight'])} classes. "
    if fresh:
        note += (
            "New, because shapes differ: "
            f"{', '.join(fresh[:5])}{' and more' if len(fresh) > 5 else ''}."
        )
    return note.rstrip()


def _read(name: str, file_hash: str, wanted: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], str]:
    path = weights.pretrained_file(name)
    if path is None and file_hash:
        raise BadFile(
            f"The file of pretrained weights for {name}, hash {file_hash[:12]}, is gone. Put it "
            "back, or plan the run again."
        )
    if path is None:
        return _published(name), f"{PUBLISHED[name]} of timm"
    digest = weights.file_hash(path, what=f"{name} with pretrained weights")
    if digest != file_hash:
        raise BadFile(
            f"{path} has changed since this run was planned. Plan it again to run with what is "
            "there now."
        )
    tensors = fitted(path, read(path), wanted).tensors
    return tensors, f"{path.name} with the hash {digest[:12]}"


def _published(name: str) -> dict[str, Tensor]:
    place = f"{weights.weights_folder() / name}.safetensors (or .pt)"
    if name not in PUBLISHED:
        raise BadFile(
            f"Nobody publishes pretrained weights for {name}. Put your own into {place}, or train "
            "without them."
        )
    try:
        return timm.create_model(PUBLISHED[name], pretrained=True).state_dict()
    except Exception as error:
        # each layer of the hub client has errors of its own for a network that is not there
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadFile(
            f"The pretrained weights {PUBLISHED[name]} for {name} could not be fetched "
            f"({reason[:200]}). Fetch model.safetensors of huggingface.co/timm/{PUBLISHED[name]} "
            f"and put it into {place}."
        ) from error


def _reshaped(
    state: Mapping[str, Tensor], model: nn.Module, wanted: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Names and sizes brought to the network's where timm knows how, and images' channels
    summed.
    """
    adapt = getattr(sys.modules[type(model).__module__], "checkpoint_filter_fn", None)
    state = dict(adapt(dict(state), model) if adapt is not None else state)
    for key, t in state.items():
        own = wanted.get(key)
        if (
            own is not None
            and t.dim() == own.dim() == 4
            and t.shape[0] == own.shape[0]
            and t.shape[2:] == own.shape[2:]
        ):
            if own.shape[1] == 1 and t.shape[1] == 3:
                state[key] = t.sum(1, keepdim=True)
            elif own.shape[1] == 3 and t.shape[1] == 1:
                state[key] = t.expand_as(own) / 3
    return state
