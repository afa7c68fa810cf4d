"""How long runs will take: the one estimate behind `plan`, the launch page, the queue and the
lessons. Imports no torch.

What a run takes is its work (training or unlearning), the training records that it may have to make
first, and its evaluation. Each is expected from past runs of the same method: the nearest ones that
there are, scaled by the samples that are processed and by what a sample costs the network. Runs of
this store come before those of another one (the demo's), which are first brought to the speed of
this machine by the runs that both have; where nothing alike was run, the cards say how much is to
be computed. What is shared is counted once, and not at all where its weights are stored already.

While a comparison runs, the runs of it that have ended correct what is expected of the others, and
a run in hand is measured by its own progress. Then a small simulation deals the jobs out to the
workers as the queue does. Nothing here is exact, so the result is a range.

past_runs.py says what each run is expected to take, remaining.py adds that up for the jobs that are
left, and jobs.py asks both for a plan and for the queue. memory.py says what a run holds at once,
and machine.py what there is; precision.py what bf16 gains.
"""

from mucore.runner.estimate.jobs import WAKING, OfPlan, counting, of_jobs, of_plan
from mucore.runner.estimate.machine import available, remember, whole_memory
from mucore.runner.estimate.memory import Fit, Memory, check_fit, fit_of, memory_of
from mucore.runner.estimate.past_runs import SPREADS, UNCALIBRATED, Expected, Forecast, forecast
from mucore.runner.estimate.precision import gain
from mucore.runner.estimate.remaining import Left, Span, about, is_forecast, schedule, time_left

__all__ = [
    "Expected",
    "Fit",
    "Forecast",
    "Left",
    "Memory",
    "OfPlan",
    "SPREADS",
    "Span",
    "UNCALIBRATED",
    "WAKING",
    "about",
    "available",
    "check_fit",
    "counting",
    "fit_of",
    "forecast",
    "gain",
    "is_forecast",
    "memory_of",
    "of_jobs",
    "of_plan",
    "remember",
    "schedule",
    "time_left",
    "whole_memory",
]
