"""Would the tests notice? Each mutant of mutants.toml is a bug that somebody could write. One after
another goes into a copy of this checkout, and the tests that it names must fail then, and pass
without it.

    python scripts/mutants.py                       # all, by every test that they name
    python scripts/mutants.py seed-range id-range --tier fast

Tier `fast` has the tests of `make test` alone; there fifteen of twenty must be caught, else all.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAST = "not slow and (smoke or not browser)"  # as in the Makefile
ENOUGH = {"fast": 0.75, "ci": 1.0}  # share of the mutants that are asked for
PASSED, FAILED, NONE = 0, 1, 5  # what pytest exits with


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """`old`, which is in `file` once, becomes `new`; the tests `caught_by` fail then."""

    id: str
    group: str
    file: str
    old: str
    new: str
    harm: str
    caught_by: Sequence[str]


def mutants() -> list[Mutant]:
    content = tomllib.loads((ROOT / "scripts" / "mutants.toml").read_text(encoding="utf-8"))
    return [Mutant(**each) for each in content["mutant"]]


def copy_checkout(folder: Path) -> None:
    """What git knows or would take, as it is now, into `folder`."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # Python knows a changed file by its size and second
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def run(folder: Path, tests: str, tier: str) -> int:
    """pytest's exit code of `tests` in the copy."""
    chosen = ["-m", FAST] if tier == "fast" else []
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *chosen, *shlex.split(tests)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (PASSED, FAILED, NONE):
        raise SystemExit(f"pytest {tests} exits with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.returncode


def catcher(mutant: Mutant, folder: Path, tier: str, sound: dict[str, bool]) -> str:
    """The first of its tests that fails under the mutant and not without; "" where none does."""
    path = folder / mutant.file
    text = path.read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.id}: its text must be in {mutant.file} once"
    for tests in mutant.caught_by:
        if tests not in sound:
            sound[tests] = run(folder, tests, tier) == PASSED
        if not sound[tests]:
            print(f"  {tests} has no test in this tier, or fails as it is", flush=True)
            continue
        write(path, text.replace(mutant.old, mutant.new))
        try:
            if run(folder, tests, tier) == FAILED:
                return tests
        finally:
            write(path, text)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Put bugs into a copy, and look what catches them")
    parser.add_argument("ids", nargs="*", metavar="ID", help="mutants; default: all")
    parser.add_argument("--tier", choices=list(ENOUGH), default="ci")
    options = parser.parse_args()
    known = mutants()
    if unknown := set(options.ids) - {each.id for each in known}:
        parser.error(f"no mutant {', '.join(sorted(unknown))}; there are {[m.id for m in known]}")
    chosen = [each for each in known if not options.ids or each.id in options.ids]
    caught, sound = 0, {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy_checkout(Path(folder))
        for mutant in chosen:
            found = catcher(mutant, Path(folder), options.tier, sound)
            caught += bool(found)
            said = f"caught by {found}" if found else f"SURVIVED: {mutant.harm}"
            print(f"{mutant.group:9} {mutant.id:28} {said}", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return 0 if caught >= ENOUGH[options.tier] * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
