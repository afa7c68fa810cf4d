"""What a worker's death says about the job that it ran: an unlucky job, or one that kills its
workers.

A job is given up where it keeps dying at one place. A place is the step that it was in and the
tenth of it; reaching one where it has not died before makes all that count for nothing, so that a
training which gets from checkpoint to checkpoint is never given up. A death from outside and one of
the job's own making look alike but for what was seen before it: the crash in its log, or a machine
short of memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# A death at one place counts once, or three times where the job seems to have made it; at ten the
# job is given up, at the tenth and the fourth death that is.
MOST, GUILTY = 10, 3
# Whatever the places are.
MOST_DEATHS = 100
LONGEST_PAUSE = 30.0
# A log's last part holds the stack of a crash.
_TAIL_BYTES = 200_000
CRASH, ATTEMPT = "Fatal Python error", "(attempt "


class Verdict(NamedTuple):
    """What becomes of the job: `deaths` as it is stored, how often it died at `place`, the pause in
    seconds before the next try, and whether it is given up.
    """

    deaths: dict[str, int]
    place: str
    pause: float
    lost: bool


def after_death(
    deaths: Mapping[str, int], attempts: int, step: str, progress: float, *, guilty: bool
) -> Verdict:
    """Judge one more death, after `attempts` earlier ones, in `step` at `progress` (0..1)."""
    place = f"{step or 'starting'}, {int(10 * progress) * 10} %"
    counted = dict(deaths) if place in deaths else dict.fromkeys(deaths, 0)
    counted[place] = counted.get(place, 0) + (GUILTY if guilty else 1)
    count = counted[place]
    pause = min(2.0 ** (count - 1), LONGEST_PAUSE) if count > 1 else 0.0
    return Verdict(counted, place, pause, count >= MOST or attempts + 1 >= MOST_DEATHS)


def crashed(log: Path) -> bool:
    """Whether a job's log ends in the crash of its last attempt."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return False
    return CRASH in text.rpartition(ATTEMPT)[2]
