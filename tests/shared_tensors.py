"""What the runs of a process share and no method may change."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from mucore.engine.data import TensorImages, UnlearningData


def shared(original: nn.Module, data: UnlearningData) -> Iterator[tuple[str, Tensor]]:
    """The tensors that a method is given and other runs need, by what a sentence calls them."""
    for name, p in original.named_parameters():
        yield f"the original's {name}", p
    for name, t in original.named_buffers():
        yield f"the original's {name}", t
    for samples in (data.forget, data.retain, data.validation):
        where = f"of the {samples.role} set"
        yield f"the positions {where}", samples.positions
        yield f"the labels {where}", samples.labels
        yield f"the ids {where}", samples.ids
        if samples.weights is not None:
            yield f"the class weights {where}", samples.weights
        yield f"the mean pixel {where}", samples.images.mean
        yield f"the pixels' deviation {where}", samples.images.std
        if isinstance(samples.images, TensorImages):
            yield f"the images {where}", samples.images.pixels
    if data.true_labels is not None:
        yield "the true labels of the forget set", data.true_labels
    if data.trigger is not None:
        yield "the trigger", data.trigger
    for record, parts in data.record.items():
        if isinstance(parts, dict):
            for name, t in parts.items():
                yield f"{name} of the training record {record}", t
