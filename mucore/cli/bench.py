"""The command that measures speed; what it measures is in mucore/bench."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mucore.cli.base import FAILED, WHOLE, Device
from mucore.errors import BadValue

MOST_REPEATS = 1000


def bench(
    *,
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
        bool, Parameter(negative="", help="Tiny data: a check of the script, not figures to quote.")
    ] = False,
    write: Annotated[bool, Parameter(negative="", help="Write docs/benchmarks.md.")] = False,
    repeats: Annotated[
        int | None, WHOLE, Parameter(help="Rounds of --peers; default: 3, with --quick 1.")
    ] = None,
    device: Device = "auto",
) -> int:
    """Measure the speed that the project promises: training, evaluation, store, start of the
    command line. Or, by a flag, something else.
    """
    if gpu and peers:
        raise BadValue("One thing is measured at a time, but got --gpu and --peers.")
    if repeats is not None and not 1 <= repeats <= MOST_REPEATS:
        raise BadValue(f"--repeats must be from 1 to {MOST_REPEATS}, not {repeats}.")
    if gpu:
        from mucore.bench.gpu import benchmark_gpu

        return 0 if benchmark_gpu(quick=quick, write=write, device=device) else FAILED
    if peers:
        from mucore.bench.peers import benchmark_peers

        beside = benchmark_peers(quick=quick, write=write, device=device, repeats=repeats)
        return FAILED if any(each.error for each in beside) else 0
    from mucore.bench.promises import benchmark

    return 0 if benchmark(quick=quick, write=write, device=device) else FAILED
