"""What unlearning takes: time, work, storage and memory."""

from __future__ import annotations

from mucore.catalog.cards import MetricCard

COSTS = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025), Table 2"

CARDS: tuple[MetricCard, ...] = (
    MetricCard(
        id="rte",
        title="Run time relative to Retrain",
        short="RTE",
        group="cost",
        meaning="Run time of this method divided by Retrain's; below 1 it saves time.",
        ideal="low",
        high=None,
        unit="ratio",
        source=COSTS,
        caveat="Missing where Retrain ran on another device, with another precision or number of "
        "threads, or was timed by another clock. Evaluation is not counted, nor is the making of "
        "training records: see Preparation.",
    ),
    MetricCard(
        id="rte_work",
        title="Work relative to Retrain",
        short="RTE, work",
        group="cost",
        meaning="Work of this method divided by Retrain's; the same on every machine, however "
        "busy it is.",
        ideal="low",
        high=None,
        unit="ratio",
        source="This project",
        caveat="Counts the samples that are read, not how many networks look at them, nor what is "
        "computed beside: a method with teachers or large matrices takes more time than this says.",
    ),
    MetricCard(
        id="unlearning_seconds",
        title="Run time",
        short="Seconds",
        group="cost",
        meaning="Seconds the method took, without evaluation; for Retrain and the original those "
        "of training. On a CPU they are seconds of processor time, summed over all threads.",
        ideal="low",
        high=None,
        unit="seconds",
        source="This project",
        caveat="Depends on the machine; on a GPU, where seconds are those of the clock on the "
        "wall, also on what else ran on it.",
    ),
    MetricCard(
        id="prepared_seconds",
        title="Preparation for any request",
        short="Prepared",
        group="cost",
        meaning="Seconds it took to make the training records that the method needs and that "
        "serve every later request.",
        ideal="low",
        high=None,
        unit="seconds",
        source="This project",
        caveat="Not part of any run time: it is spent once, ahead of the first request, and its "
        "share falls with each further one.",
    ),
    MetricCard(
        id="prepared_for_request_seconds",
        title="Preparation for this request",
        short="Prepared, own",
        group="cost",
        meaning="Seconds it took to make the training records that the method needs and that "
        "serve this forget set alone.",
        ideal="low",
        high=None,
        unit="seconds",
        source="This project",
        caveat="Not part of any run time, because the published method keeps its record while the "
        "original is trained. Here the training is replayed with the forget set known, which "
        "takes far less storage.",
    ),
    MetricCard(
        id="work",
        title="Work",
        short="Work",
        group="cost",
        meaning="Passes through the network: a sample read counts one, three where its gradient "
        "was computed as well.",
        ideal="low",
        high=None,
        unit="count",
        source="This project",
        caveat="Does not depend on the machine. Images that a method makes up count, too.",
    ),
    MetricCard(
        id="samples_read",
        title="Samples read",
        short="Reads",
        group="cost",
        meaning="How many samples passed through the model, each counted every time.",
        ideal="low",
        high=None,
        unit="count",
        source="This project",
        caveat="Does not depend on the machine. A pass with a gradient costs about three times "
        "one without and counts the same.",
    ),
    MetricCard(
        id="optimizer_steps",
        title="Optimiser steps",
        short="Steps",
        group="cost",
        meaning="How many times the optimiser changed the weights.",
        ideal="low",
        high=None,
        unit="count",
        source="This project",
        caveat="Methods that edit weights directly take none.",
    ),
    MetricCard(
        id="persistent_bytes",
        title="Storage kept since training",
        short="Kept",
        group="cost",
        meaning="Bytes that this implementation must keep between training and the request, "
        "beyond the model and the data.",
        ideal="low",
        high=None,
        unit="bytes",
        source=COSTS,
        caveat="What the published method needs can be far more; see the method's page.",
    ),
    MetricCard(
        id="scratch_bytes",
        title="Working storage",
        short="Scratch",
        group="cost",
        meaning="Most bytes the method held for itself at one time, such as copies of the model "
        "or importance maps.",
        ideal="low",
        high=None,
        unit="bytes",
        source="This project",
        caveat="Counts what this implementation says it holds; activations and gradients of "
        "training are in the peak memory instead.",
    ),
    MetricCard(
        id="peak_memory_bytes",
        title="Peak memory",
        short="Memory",
        group="cost",
        meaning="Most device memory in use during the run; on a CPU, growth of the process's "
        "memory.",
        ideal="low",
        high=None,
        unit="bytes",
        source="This project",
        caveat="On a CPU it is sampled and depends on what the process held before; compare runs "
        "on one device only.",
    ),
)
