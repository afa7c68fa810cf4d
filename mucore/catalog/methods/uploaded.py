"""Computes nothing: loads weights from a file and measures them as the result of a method. They may
come from unlearning code that is not included here, run on the same forget set. What they cost is
not known.

The weights go into the chosen network, which then passes through the same metrics as any other
result. Whether they come from the same original, recipe and forget set cannot be read off a file,
so the person who brings it is answerable for that. What it cost stays blank, so only the quality of
the result can be compared.
"""

from __future__ import annotations

from mucore.catalog.cards import MethodCard
from mucore.catalog.settings import setting

CARD = MethodCard(
    id="uploaded",
    title="Uploaded weights",
    family="own",
    source="A file of the user",
    reads=frozenset(),
    parameters=(
        setting("file", "file", "")(
            "Path of a file with the weights of the chosen model: safetensors, or what torch.save "
            "makes of model.state_dict(). It is copied into the store; the hash of its content "
            "stands in its place afterwards."
        ),
    ),
    tasks=frozenset({"classes", "attributes"}),
    not_confinable="its weights are those of the file, in every layer.",
)
