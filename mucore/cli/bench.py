"""The command that measures speed; what it measures is in mucore/bench."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mucore.cli.base import FAILED, Device
from mucore.errors import BadValue


def bench(
    *,
    gpu: Annotated[
        bool, Parameter(negative="", help="Training and ten methods on a CUDA GPU.")
    ] = False,
    peers: Annotated[
        bool, Parameter(negative="", help="Methods beside torchunlearn's, where it is installed.")
    ] = False,
    quick: Annotated[
        bool, Parameter(negative="", help="Tiny data: a check of the script, not figures to quote.")
    ] = False,
    write: Annotated[bool, Parameter(negative="", help="Write docs/benchmarks.md.")] = False,
    device: Device = "auto",
) -> int:
    """Measure the speed that the project promises: training, evaluation, store, start of the
    command line. Or, by a flag, something else.
    """
    if gpu and peers:
        raise BadValue("One thing is measured at a time, but got --gpu and --peers.")
    if quick and write:
        raise BadValue(
            "The quick figures say nothing about speed, so they are not written down. Leave "
            "--quick or --write out."
        )
    if gpu:
        from mucore.bench.gpu import benchmark_gpu as measured
    elif peers:
        from mucore.bench.peers import benchmark_peers as measured
    else:
        from mucore.bench.promises import benchmark as measured
    return 0 if measured(quick=quick, write=write, device=device) else FAILED
