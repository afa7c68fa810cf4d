"""Write mucore/catalog/tuned.json, what the preset `tuned` takes, from the studies in data/studies.

    python -m mucore tune --studies data/studies --dataset fashion-mnist-10k \
        --model resnet9-small --scenario one_class --methods all
    python scripts/make_tuned.py

Settings that an earlier search found for two scenarios at once stay, for methods and tasks that
have no study yet.
"""

from __future__ import annotations

from pathlib import Path

from mucore.catalog import tuning
from mucore.tuning import found
from mucore.tuning.study import studies_in

STUDIES = Path(__file__).resolve().parents[1] / "data" / "studies"


def joint() -> list[tuning.Tuned]:
    """The settings of the earlier search."""
    return [each for each in tuning.shipped() if len(each.scenarios) > 1]


def main() -> None:
    made = found.write(tuning.SHIPPED, studies_in(STUDIES), beside=joint())
    print(f"{tuning.SHIPPED} written: {len(made)} settings of studies, {len(joint())} of before.")


if __name__ == "__main__":
    main()
