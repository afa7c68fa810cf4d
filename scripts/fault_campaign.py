"""Break what a comparison needs, again and again, and look whether every promise of
docs/reliability.md is kept.

    python scripts/fault_campaign.py                     all of it, with 200 kills; takes long
    python scripts/fault_campaign.py --short             a little of each, as the tests run it
    python scripts/fault_campaign.py --only kills,disk   some groups; --list names them
    python scripts/fault_campaign.py --minutes 20        begin nothing more after so many minutes
    python scripts/fault_campaign.py --write             and put the table into docs/reliability.md

What is done is drawn from `--seed`; when it hits, the machine decides. The state is kept in
`--folder` after each round, and the same command with the same folder goes on from there. Exit code
1: a promise was broken, the table says which. Runs on Linux; a full disk needs root, Postgres and
Chromium need to be installed, else those groups are left out and the table says so.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs_text import table
from faults import deaths, hostile, trouble
from faults.ground import INTERRUPTED, Ground, Group, Skipped, Tally

from mucore.files import whole_file

GROUPS = (*deaths.GROUPS, *trouble.GROUPS, *hostile.GROUPS)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reliability.md"
HEAD = "## Last figures"
SEED = 20261125
IDLE = 4  # rounds in a row that did nothing: chance does not explain that any more


class Campaign:
    """The tallies of all groups, kept in a file of `folder`."""

    def __init__(self, folder: Path, seed: int, groups: Sequence[Group], *, short: bool):
        self.folder, self.seed, self.groups, self.short = folder, seed, groups, short
        self._file = folder / "campaign.json"
        self.rounds: dict[str, int] = {}
        self.tallies = {group.id: Tally() for group in groups}
        self.seconds = 0.0
        self._idle = {group.id: 0 for group in groups}
        self._lock = threading.Lock()
        if self._file.exists():
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            if (kept["seed"], kept["short"]) != (seed, short):
                raise SystemExit(f"{folder} is of another campaign. Choose another --folder.")
            self.rounds, self.seconds = kept["rounds"], kept["seconds"]
            self.tallies |= {name: Tally.from_json(each) for name, each in kept["tallies"].items()}

    def run(self, minutes: float | None) -> None:
        """A round of each group in turn, until each has done its share; in the short form two at a
        time, for most of a round is waiting.
        """
        began, before = time.monotonic(), self.seconds

        def round_of(group: Group) -> bool:
            if minutes is not None and time.monotonic() - began > 60 * minutes:
                return False
            tally = Tally.from_json(self.tallies[group.id].to_json())
            self._round(ground, group, tally)
            if INTERRUPTED.is_set():  # half a round is none
                return False
            with self._lock:
                self.tallies[group.id] = tally
                self.rounds[group.id] = self.rounds.get(group.id, 0) + 1
                self.seconds = before + time.monotonic() - began
                self._save()
            return True

        with (
            Ground(self.folder, short=self.short) as ground,
            ThreadPoolExecutor(2 if self.short else 1) as pool,
        ):
            ground.undisturbed()
            while left := [group for group in self.groups if self._left(group) > 0]:
                rounds = [pool.submit(round_of, group) for group in left]
                try:
                    if not all([each.result() for each in rounds]):
                        return
                except BaseException:
                    INTERRUPTED.set()
                    pool.shutdown(cancel_futures=True)
                    raise

    def _left(self, group: Group) -> int:
        tally = self.tallies[group.id]
        wanted = group.short if self.short else group.count
        return 0 if tally.skipped else wanted - group.so_far(tally)

    def _round(self, ground: Ground, group: Group, tally: Tally) -> None:
        number = self.rounds.get(group.id, 0) + 1
        rng = random.Random(f"{self.seed}/{group.id}/{number}")
        before, began = group.so_far(tally), time.monotonic()
        try:
            group.round(ground, rng, tally, self._left(group))
        except Skipped as reason:
            tally.skipped = str(reason)
        except Exception as problem:  # the campaign goes on; what broke is told
            tally.broken.append(f"round {number}: {type(problem).__name__}: {problem}")
            traceback.print_exc()
        if ground.canary.exists():
            tally.broken.append("code in a file that is only data has run")
            ground.canary.unlink()
        # all may be done before anything was to hit
        self._idle[group.id] = self._idle[group.id] + 1 if group.so_far(tally) == before else 0
        if not tally.skipped and self._idle[group.id] == IDLE:
            tally.broken.append(f"{IDLE} rounds in a row did nothing")
            tally.skipped = "It did nothing."
        seconds = time.monotonic() - began
        print(f"{group.id} {number}, {seconds:.0f} s: {tally}", file=sys.stderr, flush=True)

    def _save(self) -> None:
        content = {
            "seed": self.seed,
            "short": self.short,
            "seconds": self.seconds,
            "rounds": self.rounds,
            "tallies": {name: tally.to_json() for name, tally in self.tallies.items()},
        }
        with whole_file(self._file) as temporary:
            temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")

    @property
    def kept(self) -> bool:
        return all(self.tallies[group.id].kept for group in self.groups)

    def report(self) -> str:
        """The table, and what broke."""
        rows = []
        broken = []
        for group in self.groups:
            tally = self.tallies[group.id]
            did = "; ".join(f"{kind}: {count}" for kind, count in tally.did.items())
            rows.append(
                [
                    group.title,
                    did or (f"left out: {tally.skipped}" if tally.skipped else "not begun"),
                    f"{tally.done:,} of {tally.planned:,}" if tally.planned else "",
                    *(
                        f"{number}" if tally.planned else ""
                        for number in (tally.lost, tally.twice, tally.unequal)
                    ),
                    f"{len(tally.broken)}",
                ]
            )
            broken += [f"- {group.title}: {sentence}" for sentence in tally.broken]
        heads = ["trouble", "how often", "keys done", "lost", "twice", "unequal", "other breaks"]
        lines = [table(heads, rows)]
        if broken:
            lines.append("What broke:\n\n" + "\n".join(broken))
        return "\n\n".join(lines)


def write(campaign: Campaign) -> None:
    """Put the figures in the place of the last ones."""
    text = (
        f"Written by `python scripts/fault_campaign.py --write` on {datetime.now(UTC):%Y-%m-%d}, "
        f"seed {campaign.seed}, {campaign.seconds / 60:.0f} minutes.\n\n{campaign.report()}"
    )
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    PAGE.write_text(f"{before}{HEAD}\n\n{text}\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="a little of each")
    parser.add_argument("--only", help="ids of groups, separated by commas")
    parser.add_argument("--list", action="store_true", help="name the groups, and end")
    parser.add_argument("--minutes", type=float, help="begin nothing more after so many")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--folder", type=Path, help="keep the state here, and go on from it")
    parser.add_argument("--write", action="store_true", help="into docs/reliability.md")
    given = parser.parse_args(arguments)
    if given.list:
        print("\n".join(f"{group.id:10} {group.title}" for group in GROUPS))
        return 0
    names = given.only.split(",") if given.only else [group.id for group in GROUPS]
    if unknown := set(names) - {group.id for group in GROUPS}:
        parser.error(f"--only knows {', '.join(g.id for g in GROUPS)}, but not {unknown}.")
    if given.write and (given.short or given.only):
        parser.error("Only all groups of the long form are written down.")
    folder = given.folder or Path(tempfile.mkdtemp(prefix="mucore-campaign-"))
    folder.mkdir(parents=True, exist_ok=True)
    groups = [group for group in GROUPS if group.id in names]
    campaign = Campaign(folder.resolve(), given.seed, groups, short=given.short)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended first
    try:
        campaign.run(given.minutes)
    finally:
        print(campaign.report())
    if given.write:
        write(campaign)
    if given.folder is None and campaign.kept:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if campaign.kept else 1


if __name__ == "__main__":
    sys.exit(main())
