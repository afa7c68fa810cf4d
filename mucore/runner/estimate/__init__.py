"""How long runs will take, and how much memory: the one estimate behind `plan`, the launch page,
the queue and the lessons. Nothing here is exact. Imports no torch.

past_runs.py says what each run is expected to take, time_left.py adds that up for the jobs that are
left; memory.py says what a run holds at once, and machine.py what there is.
"""

from mucore.runner.estimate.machine import available, remember, whole_memory
from mucore.runner.estimate.memory import Fit, check_fit, fit_of
from mucore.runner.estimate.past_runs import Expected, forecast
from mucore.runner.estimate.time_left import WAKING, Left, about, specs_of, time_left, time_of
