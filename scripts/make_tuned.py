"""Write mucore/catalog/tuned.json, what the preset `tuned` takes, from the studies in data/studies.

    python -m mucore tune --studies data/studies --dataset fashion-mnist-10k \
        --model resnet9-small --scenario one_class --methods all
    python scripts/make_tuned.py

Settings that an earlier search found for two scenarios at once stay, for methods that have no study
with a setting of each of the two yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mucore.catalog import tuning
from mucore.tuning import found
from mucore.tuning.study import Study, studies_in

STUDIES = Path(__file__).resolve().parents[1] / "data" / "studies"


def joint(studies: Sequence[Study]) -> list[tuning.Tuned]:
    """The settings of the earlier search that are still of use."""
    known = {
        (study.method, study.task["scenario"]) for study in studies if study.choice() is not None
    }
    return [
        each
        for each in tuning.shipped()
        if len(each.scenarios) > 1 and {(each.method, name) for name in each.scenarios} - known
    ]


def main() -> None:
    studies = studies_in(STUDIES)
    before = joint(studies)
    made = found.write(tuning.SHIPPED, studies, beside=before)
    print(f"{tuning.SHIPPED} written: {len(made)} settings of studies, {len(before)} of before.")


if __name__ == "__main__":
    main()
