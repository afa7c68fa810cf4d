"""What unlearning takes: time, work, storage and memory."""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard

COSTS = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025), Table 2"

_card = partial(MetricCard, group="cost", ideal="low", high=None)

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="rte",
        title="Run time relative to Retrain",
        short="RTE",
        meaning="Run time of this method divided by Retrain's; below 1 it saves time.",
        unit="ratio",
        source=COSTS,
        caveat="Missing where Retrain ran on another device, with another precision or number of "
        "threads, or was timed by another clock. Evaluation is not counted, nor is the making of "
        "training records: see Preparation.",
    ),
    _card(
        id="rte_work",
        title="Work relative to Retrain",
        short="RTE, work",
        meaning="Work of this method divided by Retrain's; the same on every machine, however "
        "busy it is.",
        unit="ratio",
        caveat="Counts the samples that are read, not how many networks look at them, nor what is "
        "computed beside: a method with teachers or large matrices takes more time than this says.",
    ),
    _card(
        id="unlearning_seconds",
        title="Run time",
        short="Seconds",
        meaning="Seconds the method took, without evaluation; for Retrain and the original those "
        "of training. On a CPU they are seconds of processor time, summed over all threads.",
        unit="seconds",
        caveat="Depends on the machine; on a GPU, where seconds are those of the clock on the "
        "wall, also on what else ran on it.",
    ),
    _card(
        id="prepared_seconds",
        title="Preparation for any request",
        short="Prepared",
        meaning="Seconds it took to make the training records that the method needs and that "
        "serve every later request.",
        unit="seconds",
        caveat="Not part of any run time: it is spent once, ahead of the first request, and its "
        "share falls with each further one.",
    ),
    _card(
        id="prepared_for_request_seconds",
        title="Preparation for this request",
        short="Prepared, own",
        meaning="Seconds it took to make the training records that the method needs and that "
        "serve this forget set alone.",
        unit="seconds",
        caveat="Not part of any run time, because the published method keeps its record while the "
        "original is trained. Here the training is replayed with the forget set known, which "
        "takes far less storage.",
    ),
    _card(
        id="work",
        title="Work",
        short="Work",
        meaning="Passes through the network: a sample read counts one, three where its gradient "
        "was computed as well.",
        unit="count",
        caveat="Does not depend on the machine. Images that a method makes up count, too.",
    ),
    _card(
        id="samples_read",
        title="Samples read",
        short="Reads",
        meaning="How many samples passed through the model, each counted every time.",
        unit="count",
        caveat="Does not depend on the machine. A pass with a gradient costs about three times "
        "one without and counts the same.",
    ),
    _card(
        id="optimizer_steps",
        title="Optimiser steps",
        short="Steps",
        meaning="How many times the optimiser changed the weights.",
        unit="count",
        caveat="Methods that edit weights directly take none.",
    ),
    _card(
        id="persistent_bytes",
        title="Storage kept since training",
        short="Kept",
        meaning="Bytes that this implementation must keep between training and the request, "
        "beyond the model and the data.",
        unit="bytes",
        source=COSTS,
        caveat="What the published method needs can be far more; see the method's page.",
    ),
    _card(
        id="scratch_bytes",
        title="Working storage",
        short="Scratch",
        meaning="Most bytes the method held for itself at one time, such as copies of the model "
        "or importance maps.",
        unit="bytes",
        caveat="Counts what this implementation says it holds; activations and gradients of "
        "training are in the peak memory instead.",
    ),
    _card(
        id="peak_memory_bytes",
        title="Peak memory",
        short="Memory",
        meaning="Most device memory in use during the run; on a CPU, growth of the process's "
        "memory.",
        unit="bytes",
        caveat="On a CPU it is sampled and depends on what the process held before; compare runs "
        "on one device only.",
    ),
)
