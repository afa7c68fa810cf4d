"""Write mucore/catalog/tuned.json, what the preset `tuned` takes, from the studies in data/studies.

    python -m mucore tune --studies data/studies --dataset fashion-mnist-10k \
        --model resnet9-small --scenario one_class --methods all
    python scripts/make_tuned.py

What is there stays until a study has come to its end: the setting of a task whose study goes on
with more trials, and what an earlier search found for two scenarios at once, for methods that have
no setting of each of the two from a study yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mucore.catalog import tuning
from mucore.tuning import found
from mucore.tuning.study import Study, studies_in

STUDIES = Path(__file__).resolve().parents[1] / "data" / "studies"


def kept(studies: Sequence[Study]) -> list[tuning.Tuned]:
    """The settings in the file that no study replaces yet."""
    made = {(each.method, name) for each in found.settings(studies) for name in each.scenarios}
    going_on = {
        (study.method, study.task["scenario"])
        for study in studies
        if not study.finished(len(study.first))
    }
    return [
        each
        for each in tuning.shipped()
        for open_ in [{(each.method, name) for name in each.scenarios} - made]
        if open_ and (len(each.scenarios) > 1 or open_ <= going_on)
    ]


def main() -> None:
    studies = studies_in(STUDIES)
    before = kept(studies)
    made = found.write(tuning.SHIPPED, studies, beside=before)
    print(f"{tuning.SHIPPED} written: {len(made)} settings of studies, {len(before)} kept.")


if __name__ == "__main__":
    main()
