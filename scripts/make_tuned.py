"""Write mucore/catalog/tuned.json, what the preset `tuned` takes, from the studies in data/studies.

    python -m mucore tune --studies data/studies --dataset fashion-mnist-10k \
        --model resnet9-small --scenario one_class --methods all
    python scripts/make_tuned.py

The setting of a task whose study goes on stays until that has come to its end. Where a search found
none, there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mucore.catalog import tuning
from mucore.tuning.study import Study, is_of, studies_in, write_found

STUDIES = Path(__file__).resolve().parents[1] / "data" / "studies"


def kept(studies: Sequence[Study]) -> list[tuning.Tuned]:
    """The settings in the file whose studies go on."""
    going_on = [study for study in studies if not study.finished()]
    return [each for each in tuning.shipped() if any(is_of(each, study) for study in going_on)]


def main() -> None:
    studies = studies_in(STUDIES)
    before = kept(studies)
    made = write_found(tuning.SHIPPED, studies, beside=before)
    print(f"{tuning.SHIPPED} written: {len(made)} settings of studies, {len(before)} kept.")


if __name__ == "__main__":
    main()
