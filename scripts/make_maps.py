"""Write the maps of the images of embedded data sets, with which Forget sets opens:
`python scripts/make_maps.py [DATASET ...]`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from mucore import analysis, catalog
from mucore.analysis.samples import MOST, SHIPPED
from mucore.store import open_store


def main(names: list[str]) -> None:
    for name in names or [card.id for card in catalog.datasets() if card.embedded]:
        with tempfile.TemporaryDirectory() as home, open_store(Path(home)) as store:
            found = analysis.compute("samples", {"dataset": name, "samples": MOST}, store, SHIPPED)
        print(f"{name}: {len(found.value['ids']):,} images, {found.path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
