"""The command that measures speed; what it measures is in mucore/bench."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mucore.cli.base import FAILED, WHOLE, Device
from mucore.cli.flags import split_names
from mucore.errors import BadValue

MOST_REPEATS = 1000


def bench(
    names: Annotated[
        list[str] | None,
        Parameter(help="With --methods or --growth: these methods alone.", negative=""),
    ] = None,
    /,
    *,
    estimates: Annotated[
        bool, Parameter(negative="", help="How accurate the estimates of time are.")
    ] = False,
    methods: Annotated[
        bool, Parameter(negative="", help="Time, work and memory of every method against Retrain.")
    ] = False,
    growth: Annotated[
        bool,
        Parameter(negative="", help="How time grows with forget set, model and data."),
    ] = False,
    gpu: Annotated[
        bool,
        Parameter(
            negative="", help="Training, memory and ten methods on a CUDA GPU, in 8 minutes."
        ),
    ] = False,
    peers: Annotated[
        bool, Parameter(negative="", help="Methods beside torchunlearn's, where it is installed.")
    ] = False,
    quick: Annotated[
        bool,
        Parameter(negative="", help="Tiny data: a check of the script, not figures to quote."),
    ] = False,
    write: Annotated[bool, Parameter(negative="", help="Write docs/benchmarks.md.")] = False,
    repeats: Annotated[
        int | None, WHOLE, Parameter(help="Rounds of measurement; default: 3, with --quick 1.")
    ] = None,
    fresh: Annotated[
        bool,
        Parameter(negative="", help="Measure again what an interrupted pass has measured already."),
    ] = False,
    device: Device = "auto",
) -> int:
    """Measure the speed that the project promises: training, evaluation, store, start of the
    command line. Or, by a flag, something else. Long passes keep their figures in the folder
    `bench` of the home and go on where they were interrupted.
    """
    parts = {
        "--estimates": estimates,
        "--methods": methods,
        "--growth": growth,
        "--gpu": gpu,
        "--peers": peers,
    }
    chosen = [flag for flag, given in parts.items() if given]
    if len(chosen) > 1:
        raise BadValue(f"One thing is measured at a time, but got {' and '.join(chosen)}.")
    if repeats is not None and not 1 <= repeats <= MOST_REPEATS:
        raise BadValue(f"--repeats must be from 1 to {MOST_REPEATS}, not {repeats}.")
    if names and not (methods or growth):
        raise BadValue(
            f"Names of methods go with --methods or --growth, but got {' '.join(names)}."
        )
    if names and write:
        raise BadValue("Written tables are of all methods. Leave the names or --write out.")
    wanted = split_names(names or []) or None
    common = {"quick": quick, "write": write, "device": device}
    if estimates:
        from mucore.bench.estimates import benchmark_estimates

        benchmark_estimates(**common)
        return 0
    if methods:
        from mucore.bench.methods import benchmark_methods

        found = benchmark_methods(wanted, **common, repeats=repeats, fresh=fresh)
        return FAILED if any(each.error for each in found) else 0
    if growth:
        from mucore.bench.growth import benchmark_growth

        grown = benchmark_growth(wanted, **common, repeats=repeats, fresh=fresh)
        return FAILED if any(each.left_out for each in grown) else 0
    if gpu:
        from mucore.bench.gpu import benchmark_gpu

        return 0 if benchmark_gpu(quick=quick, write=write, device=device) else FAILED
    if peers:
        from mucore.bench.peers import benchmark_peers

        beside = benchmark_peers(**common, repeats=repeats)
        return FAILED if any(each.error for each in beside) else 0
    from mucore.bench.promises import benchmark

    return 0 if benchmark(**common) else FAILED
