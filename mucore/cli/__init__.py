"""The command line: `python -m mucore COMMAND`.

`commands` puts together what `catalogue`, `comparisons`, `stored`, `jobs` and `bench` define;
`flags` says what to compare. What computes is `mucore.runner.local`, as for Python.
"""

from mucore.cli.commands import main
from mucore.cli.flags import GridOptions, build_grid
