"""Does this checkout do what an earlier commit did? Both run on this machine, and what they come to
is compared: weights of all methods bit by bit, keys of runs, numbers of the demo, exports, words of
verdicts, and cards.

    python scripts/compare_versions.py 48383f76
    python scripts/compare_versions.py 48383f76 --only weights,keys

Exit code 1 if anything differs. What a part looks at must exist in both; its rows have ids, and
those that differ are named.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SHOWN = 10
Rows = Iterator[tuple[str, Any]]

# -- what each side computes, in a process of its own that imports that side's code


def weights() -> Rows:
    """The weights that each method ends in on the toy problems, and its status."""
    import torch

    from mucore import catalog, methods
    from mucore.engine.run import Run

    torch.set_num_threads(1)
    toy, roster = import_module("toy"), import_module("roster").ROSTER  # of each side's tests
    problems: list[tuple[str, Any]] = [
        *(("mlp", "class"), ("mlp", "random"), ("conv", "class")),
        *(("attributes", "random"), ("mlp_flipped", "poison")),
    ]
    for problem in dict(problems):
        yield f"original/{problem}", toy.fingerprint(toy.original(problem))
    for method, (problem, forget) in itertools.product(roster, problems):
        values = {p.name: p.default for p in catalog.method(method).parameters}
        values |= roster[method].short
        run = Run(seed=0)
        try:
            data, model = toy.request(problem, forget), toy.original(problem)
            found = methods.load(method)(model, data, run, **values)
            said = f"{run.status} {toy.fingerprint(found)}"
        except Exception as error:  # a method that does not serve the problem
            said = type(error).__name__
        yield f"{method}/{problem}/{forget}", said


def keys() -> Rows:
    """Keys of runs of every method and scenario, of every recipe, and of the demo."""
    from mucore import catalog
    from mucore.errors import MucoreError
    from mucore.runs import RunSpec, make_recipe, make_spec
    from mucore.store import open_pack

    def key(recipe: str = "standard", **changes: Any) -> str:
        common: dict[str, Any] = {"dataset": "fashion-mnist-10k", "model": "resnet9-small"}
        try:
            spec = make_spec(recipe=make_recipe(recipe), paper=recipe, **common, **changes)
        except MucoreError as error:
            return type(error).__name__
        return f"{spec.key} {spec.model_key} {spec.method_preset}"

    changed: dict[str, dict[str, Any]] = {
        "plain": {},
        "seeds": {"training_seed": 1, "unlearning_seed": 2, "evaluation_seed": 3},
        "tuned": {"method_preset": "tuned"},
        "noise": {"noise": 0.01},
        "scope": {"scope": "classifier"},
        "samples": {"mia_samples": 500},
        "weights": {"original_hash": "a" * 64, "data_hash": "b" * 64},
    }
    for scenario, method in itertools.product(catalog.SCENARIOS, catalog.METHODS):
        for name, changes in changed.items():
            yield (
                f"{method.id}/{scenario.id}/{name}",
                key(scenario=scenario.id, method=method.id, **changes),
            )
        for preset in catalog.presets():
            row = f"{method.id}/{scenario.id}/{preset.id}"
            yield row, key(preset.id, scenario=scenario.id, method=method.id)
    for card in catalog.METHODS:
        for parameter in card.parameters:
            for value in (parameter.default, 1, 0.5, *parameter.choices):
                values = {parameter.name: value}
                row = f"{card.id}.{parameter.name}={value}"
                yield row, key(scenario="one_class", method=card.id, parameters=values)
    with open_pack("data/demo") as store:
        for result in store.results():
            spec = RunSpec.model_validate(result.spec)
            yield f"demo/{result.key}", f"{spec.key} {spec.model_key}"


def demo() -> Rows:
    """Every row of data/demo as the store reads it."""
    from mucore.store import open_pack

    with open_pack("data/demo") as store:
        for result in store.results():
            read = ("model_key", "spec", "status", "metrics", "cost", "losses", "confusion")
            yield result.key, {name: _plain(getattr(result, name)) for name in read}
        for comparison in store.comparisons():
            yield f"comparison/{comparison.name}", _plain(comparison)


def exports() -> Rows:
    """What the command line writes of the demo's results, byte by byte."""
    demo_home()
    forms = [
        "export --format csv",
        "export --format csv --metrics ta,fa,mia_confidence --method scrub",
        "export --format latex",
        "export --format latex --scenario one_class --caption Gaps --metrics ta,ra,rte",
        "export --format markdown --scenario class_wise",
        "stats --format csv",
        "stats --format latex --table pairs --metric fa",
        "stats --format markdown --table ranks --metric mia_confidence",
        "stats --format csv --table tau --agreement ta,fa,mia_confidence,cka_retrain_forget",
        "suite list --json",
    ]
    for form in forms:
        yield form, command(form)
    for line in json.loads(command("results --json")):
        yield f"verdict/{line['key']}", (line.get("verdict") or {}).get("word")


def command(arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mucore", *arguments.split()], capture_output=True, text=True
    )
    return f"{done.returncode}\n{done.stdout}" if done.returncode else done.stdout


def demo_home() -> None:
    """The demo's results in this process's home, as if they had been computed there."""
    from mucore.store import open_pack, open_store

    with open_pack("data/demo") as pack, open_store() as store:
        store.put_results([dataclasses.replace(each, demo=False) for each in pack.results()])


def cards() -> Rows:
    """Every field of every card, and the recipes of presets."""
    from mucore import catalog
    from mucore.runs import make_recipe

    kinds = "methods metrics scenarios datasets models presets terms ideas verdicts".split()
    found = {kind: getattr(catalog, kind)() for kind in kinds}
    for kind, those in found.items():
        for place, card in enumerate(those):
            yield f"{kind}/{card.id}", place
            for field in dataclasses.fields(card):
                yield f"{kind}/{card.id}/{field.name}", _plain(getattr(card, field.name))
    for preset in catalog.presets():
        yield f"recipes/{preset.id}", make_recipe(preset.id).model_dump(mode="json")


def _plain(value: Any) -> Any:
    """As JSON has it; of a set the order says nothing, of a mapping it may."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return [[_plain(name), _plain(each)] for name, each in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | type(None)) else repr(value)


PARTS: Mapping[str, Callable[[], Rows]] = {
    each.__name__: each for each in (weights, keys, demo, exports, cards)
}


def collect(parts: list[str]) -> None:
    """Print the rows of each part by id, each as the hash of its JSON text."""
    print(
        json.dumps(
            {
                part: {
                    name: hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
                    for name, value in PARTS[part]()
                }
                for part in parts
            }
        )
    )


# -- both sides


def started(checkout: Path, home: Path, parts: list[str]) -> subprocess.Popen[str]:
    home.mkdir()
    paths = os.pathsep.join([str(checkout), str(checkout / "tests")])
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), "--collect", "--only", ",".join(parts)],
        cwd=checkout,
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "MUCORE_HOME": str(home),
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdout=subprocess.PIPE,
        text=True,
    )


def compared(commit: str, parts: list[str]) -> bool:
    """Whether both sides agree; prints a line a part, and ids of rows that differ."""
    with tempfile.TemporaryDirectory(prefix="versions-") as name:
        folder = Path(name)
        there = folder / "baseline"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(there), commit], check=True)
        try:
            sides = [
                started(checkout, folder / f"home-{number}", parts)
                for number, checkout in enumerate((there, ROOT))
            ]
            told = [side.communicate()[0] for side in sides]
        finally:
            subprocess.run([*git, "remove", "--force", str(there)], check=True)
    if any(side.returncode for side in sides):
        raise SystemExit("A side came to no end; what it printed stands above.")
    before, after = map(json.loads, told)
    alike = True
    for part in parts:
        names = [*before[part], *(name for name in after[part] if name not in before[part])]
        other = [name for name in names if before[part].get(name) != after[part].get(name)]
        alike &= not other
        print(f"{part:8} {len(names):6} compared, {len(other)} differ", flush=True)
        for name in other[:SHOWN]:
            where = " (only before)" if name not in after[part] else ""
            print(f"    {name}{where or (' (only now)' if name not in before[part] else '')}")
    return alike


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare this checkout with an earlier commit")
    parser.add_argument("commit", nargs="?", default="")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--collect", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    parts = options.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if options.collect:
        collect(parts)
        return 0
    if not options.commit:
        parser.error("name the commit to compare with")
    return 0 if compared(options.commit, parts) else 1


if __name__ == "__main__":
    sys.exit(main())
