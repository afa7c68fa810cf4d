"""The command that measures speed; what it measures is in mucore/bench."""

from __future__ import annotations

from mucore.cli.base import FAILED, Device
from mucore.errors import BadValue


def bench(
    *, gpu: bool = False, quick: bool = False, write: bool = False, device: Device = "auto"
) -> int:
    """Measure the speed that the project promises: training, evaluation, store, start of the
    command line. Or, with --gpu, training and ten methods on a CUDA GPU.

    Parameters
    ----------
    gpu
        Training, plain and as graphs, and ten methods on a CUDA GPU.
    quick
        Tiny data: a check of the script, not figures to quote.
    write
        Write docs/benchmarks.md.
    """
    if quick and write:
        raise BadValue(
            "The quick figures say nothing about speed, so they are not written down. Leave "
            "--quick or --write out."
        )
    if gpu:
        from mucore.bench.gpu import benchmark_gpu as measured
    else:
        from mucore.bench.promises import benchmark as measured
    return 0 if measured(quick=quick, write=write, device=device) else FAILED
