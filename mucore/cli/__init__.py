"""The command line: `python -m mucore COMMAND`. `commands` has the commands, `flags` what to compare, `watch` a run as it goes."""

from mucore.cli.commands import main
from mucore.cli.flags import GridOptions, build_grid, parse_seeds

__all__ = ["GridOptions", "build_grid", "main", "parse_seeds"]
