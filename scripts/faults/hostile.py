"""Methods, inputs, files and addresses by somebody who means ill, or does not look."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import random
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any
from urllib.parse import urlencode

import numpy as np

from faults.ground import FLAGS, Ground, Group, Skipped, Tally, kill, wait_for
from mucore.runner import children
from mucore.runner.plan import MethodChoice, launch, make_plan

# -- methods

PLUGIN = "hostile method run"
# What the body of a method does, by its name.
BODIES: Mapping[str, str] = {
    "zeroes_arrays": "data.forget.images.pixels.zero_(); data.retain.labels.zero_(); return model",
    "sets_dtype": "torch.set_default_dtype(torch.float64); return model",
    "sets_grad_mode": "torch.set_grad_enabled(False); return model",
    "sets_seeds": "torch.manual_seed(0); np.random.seed(0); torch.set_num_threads(7); return model",
    "patches_mucore": "sys.modules['mucore.engine.loop'].fit = None; return model",
    "exits": "sys.exit(0)",
    "exits_hard": "os._exit(0)",
    "interrupts": "raise KeyboardInterrupt",
    "crashes": "os.kill(os.getpid(), 11)",
    "never_ends": "time.sleep(10**6)",
    "spins_deaf": "[signal.signal(n, signal.SIG_IGN) for n in (1, 2)]; [0 for _ in iter(int, 1)]",
    "fills_memory": "kept = [bytearray(os.urandom(1 << 20)) * 16 for _ in iter(int, 1)]",
    "forks": "[os.fork() for _ in range(9)]; time.sleep(600)",
    "leaves_children": "subprocess.Popen(['sleep', '600'], start_new_session=True); return model",
    "prints_without_end": "[print('x' * 1000) for _ in iter(int, 1)]",
    "lies_about_its_end": "os.write(3, b'[\"ended\", {}]\\n'); return None",
    "returns_nothing": "return None",
    "returns_another": "return nn.Linear(3, 3)",
    "returns_nan": "next(model.parameters()).data.fill_(torch.nan); return model",
    "lies_about_costs": "run.cost.steps = -5; return model",
    "closes_everything": "os.closerange(0, 100); time.sleep(600)",
}  # fmt: skip
# Those that run until their time is over.
ENDLESS = ("never_ends", "spins_deaf", "forks", "prints_without_end", "closes_everything")
SECONDS = "60"  # which a method of three epochs does not need on the busiest machine
_FILE = """
import os, signal, subprocess, sys, time
import numpy as np
import torch
from torch import nn
from mucore.catalog import MethodCard

CARD = MethodCard(
    id="{name}", title="{name}", family="own", source="the fault campaign", summary="Ill.",
    reads=frozenset({{"forget", "retain"}}),
)


def {name}(model, data, run):
    {body}
"""
# A file whose module, and card, would act as soon as anybody imported it.
_LISTED = """
open({canary!r}, "w").close()
CARD = __import__("os").system("touch " + {canary!r})
def listed(model, data, run): return model
"""


def run_methods(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """One worker runs hostile methods among others, whose results must be the undisturbed ones."""
    names = [name for name in BODIES if not (ground.short and name in ENDLESS)]
    names = rng.sample(names, min(most, len(names)))
    folder = Path(os.environ["MUCORE_PLUGINS"])
    for name in names:
        text = _FILE.format(name=name, body=BODIES[name])
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    limits = {children.SECONDS: SECONDS, children.GIGABYTES: "1.5"}
    os.environ |= limits
    try:
        with ground.field(tally) as field:
            usual = list(field.plan.grid.methods)
            mixed = [*usual, *(MethodChoice(id=name) for name in names)]
            rng.shuffle(mixed)
            grid = field.plan.grid.model_copy(update={"methods": mixed})
            ill = make_plan(grid, field.store)
            launch(ill, field.store, name="hostile")
            field.launch()
            field.keep(1)
            (worker,) = field.workers
            wait_for(field.settled, "a queue with hostile methods")
            if worker.poll() is not None:
                tally.broken.append(f"a method ended its worker, with {worker.poll()}")
            for job in field.store.jobs():
                if job.key not in field.wanted:
                    tally.did[PLUGIN] += 1
                    if job.state not in ("done", "failed") or job.attempts:
                        tally.broken.append(f"{job.label} is {job.state}: {job.error}")
            field.finish()
            time.sleep(0.5)
            if left := ground.left_over():
                tally.broken.append(f"hostile methods left {len(left)} processes")
    finally:
        for name in limits:
            del os.environ[name]
        for name in names:
            (folder / f"{name}.py").unlink()


# -- inputs on the command line

INPUT = "input on the command line"
LIMIT = 60.0  # seconds that a refusal may take on a machine that does much else

_TEXTS = [
    "", " ", "-", "--", "²", "+-5", "--5", "-1", "0", "1e999", "nan", "inf", "9" * 5000, "1.5",
    "1,", "..", "../../etc/passwd", "/dev/null", "/", "~nouser/x", "npz:~nouser/x",
    "folder:/proc/self", "npz:/dev/zero", "<script>", "';--", "%00", "\udcff", "\u202e",
    "é" * 300, "@", "@/dev/null", "set:", "set:../x", "null", "true", "[" * 3000, "{}", "\n",
    "\t", "a\nb", "=", "x=", "=x",
]  # fmt: skip
# `{}` is where a text goes; the rest is as a person would write it.
_COMMANDS = [
    *(f"plan {' '.join(FLAGS)} {flag} {{}}" for flag in (
        "--budget", "--seeds", "--scenario", "--methods", "--set", "--sweep", "--noise", "--scope",
        "--then", "--preset", "--dataset", "--model", "--original", "--mia-samples",
    )),
    *(f"plan {' '.join(FLAGS)} --set {owner}={{}}" for owner in (
        "recipe.epochs", "recipe.lr", "scenario.class_id", "scrub.alpha", "ids.ids", "x.y",
    )),
    "jobs --limit {}", "jobs --state {}", "jobs --comparison {}", "cancel {}", "retry {}",
    "results --comparison {} --json", "results --dataset {} --json", "export --format {}",
    "export --format csv --metrics {}", "stats --metric {}", "weights {} out.safetensors",
    "analyse {}", "analyse tsne --params {}", "forget-set --dataset {} --scenario one_class",
    "forget-set --dataset digits --scenario {}", "forget-set --verify {}", "methods --json {}",
    "worker --idle-exit 0 --threads {}", "worker --idle-exit 0 --job {}", "check {}",
    "worker --idle-exit 0 --parent-pid {}", "gc --keep {}", "{}", "--home {} jobs",
]  # fmt: skip


def type_inputs(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """Commands with texts and files that no sane person would type. Each ends in time, with an exit
    code that says what it was, and never with a traceback.
    """
    home = ground.folder / "inputs"
    home.mkdir(exist_ok=True)
    files = _files(home, ground.canary)
    texts = [*_TEXTS, *map(str, files), *(f"npz:{path}" for path in files)]
    texts += [f"@{path}" for path in files]
    listed = Path(os.environ["MUCORE_PLUGINS"]) / "listed.py"
    listed.write_text(_LISTED.format(canary=str(ground.canary)), encoding="utf-8")
    try:
        for _ in range(min(most, 8 if ground.short else 40)):
            command, text = rng.choice(_COMMANDS), rng.choice(texts)
            words = [text if word == "{}" else word.replace("{}", text) for word in command.split()]
            if "--home" not in words:
                words += ["--home", str(home / "store")]
            _type(ground, words, tally)
    finally:
        listed.unlink()


def _type(ground: Ground, words: list[str], tally: Tally) -> None:
    if any("\0" in word for word in words):  # no system passes it on
        return
    shown = " ".join(word if len(word) < 60 else f"{word[:40]}...({len(word)})" for word in words)
    process = ground.start(*words, folder=ground.folder / "inputs")
    try:
        _, said = process.communicate(timeout=LIMIT)
    except TimeoutExpired:
        kill(process)
        process.communicate()
        tally.broken.append(f"no end after {LIMIT:g} s: {shown!r}")
        return
    finally:
        tally.did[INPUT] += 1
    if process.returncode not in (0, 1, 2) or b"Traceback" in said:
        last = said.decode(errors="replace").strip()[-200:]
        tally.broken.append(f"exit code {process.returncode} for {shown!r}: {last}")


class _Payload:
    """What a pickle would do as it is loaded."""

    def __init__(self, canary: Path):
        self._canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._canary),)


def _files(folder: Path, canary: Path) -> list[Path]:
    """Data that would run code where somebody loaded them carelessly, or fill the memory."""
    evil = pickle.dumps(_Payload(canary))
    header = json.dumps({"w": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4]}})
    packed = io.BytesIO()
    np.savez(packed, x=np.zeros((3, 8, 8), np.uint8), y=np.array([_Payload(canary)] * 3, object))
    huge = io.BytesIO()
    with zipfile.ZipFile(huge, "w") as archive:
        head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (900000000000, 8, 8), }"
        for name in ("x.npy", "y.npy"):
            start = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
            archive.writestr(name, start)
    contents = {
        "evil.pt": evil,
        "evil.pkl": evil,
        "evil.npz": packed.getvalue(),
        "evil.npy": b"\x93NUMPY\x01\x00" + evil,
        "huge.npz": huge.getvalue(),
        "huge.safetensors": len(header).to_bytes(8, "little") + header.encode() + bytes(4),
        "longer.safetensors": (2**62).to_bytes(8, "little") + b"{}",
        "deep.json": b"[" * 100_000,
        "empty.csv": b"",
        "bytes.csv": b"id\n\xff\xfe\x00\n",
        "numbers.csv": b"id\n" + b"9" * 5000 + b"\n-1\n1.5\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    torch_file = folder / "evil.pth"  # the zip of torch.save
    with zipfile.ZipFile(torch_file, "w") as archive:
        archive.writestr("archive/data.pkl", evil)
        archive.writestr("archive/version", "3")
    return [*(folder / name for name in contents), torch_file]


# -- addresses of pages

ADDRESS = "address of a page"
SLOW = 180.0  # seconds that a page may take on a machine that does much else
_SCRIPTS = [
    "<script>fired=1</script>", "<img src=x onerror=fired=1>", '"><svg onload=fired=1>',
    "javascript:fired=1", "[x](javascript:fired=1)", "$\\href{javascript:fired=1}{x}$",
    ":material/<script>fired=1</script>:",
]  # fmt: skip
_NAMES = [
    "comparison", "dataset", "model", "recipe", "scenario", "set", "methods", "settings", "source",
    "run", "key", "split", "paper", "row", "sample", "teacher", "lesson", "step", "term", "sort",
    "attack", "part", "parts", "over", "other", "original", "zoom", "preset", "path", "budget",
    "seeds", "class_id", "class_ids", "view", "method", "page",
]  # fmt: skip
_UNDER_WAY = "[data-testid=stSkeleton], [data-testid=stStatusWidget]"
_PAGES = [
    "", "launch", "forget_sets", "queue", "results", "board", "budget", "tradeoffs", "compare",
    "membership", "representation", "replay", "efficacy", "quality", "depoisoning", "identity",
    "lessons", "method", "glossary", "papers", "reports",
]  # fmt: skip


def open_addresses(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """Pages at addresses with scripts and worse in their parameters, in a real browser: no script
    runs, nothing is sent elsewhere, and the page says something.
    """
    try:
        from playwright.sync_api import sync_playwright
        from screenshots import FLAGS as CHROMIUM
        from screenshots import application, find_browser
    except ImportError as reason:
        raise Skipped(f"Playwright is not installed ({reason}).") from None
    browser = find_browser()
    if browser is None:
        raise Skipped("There is no Chromium here (Debian: apt-get install chromium).")
    with application(ground.folder / "pages") as url, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=list(CHROMIUM))
        try:
            for _ in range(min(most, 4 if ground.short else 20)):
                _open(chromium, url, rng, tally)
        finally:
            chromium.close()


def _open(chromium: Any, url: str, rng: random.Random, tally: Tally) -> None:
    values = [each for each in (*_SCRIPTS, *_SCRIPTS, *_TEXTS) if each.isprintable()]
    asked = {
        name: rng.choice(values)[:2000]  # what a browser's address may hold
        for name in rng.sample(_NAMES, rng.randint(1, 6))
    }
    address = f"{url}/{rng.choice(_PAGES)}?{urlencode(asked, errors='surrogateescape')}"
    shown = address.removeprefix(url)[:300]
    page = chromium.new_page()
    page.set_default_timeout(1000 * SLOW)
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    try:
        page.goto(address)
        page.wait_for_selector("[data-testid=stMain] [data-testid=stElementContainer]")
        page.wait_for_function(f"() => !document.querySelector('{_UNDER_WAY}')")
        if page.evaluate("() => typeof fired !== 'undefined'"):
            tally.broken.append(f"a script of the address ran: {shown}")
        if page.locator("[data-testid=stException]").count():
            tally.broken.append(f"an exception on the page: {shown}")
        if away := [each for each in elsewhere if not each.startswith((url, "data:", "blob:"))]:
            tally.broken.append(f"the page asked {away[0][:80]}: {shown}")
    except Exception as problem:
        tally.broken.append(f"{type(problem).__name__} at {shown}")
    finally:
        tally.did[ADDRESS] += 1
        with contextlib.suppress(Exception):
            page.close()


GROUPS = (
    Group("methods", "Hostile methods", run_methods, 2 * len(BODIES), 3, [PLUGIN]),
    Group("inputs", "Hostile inputs and files", type_inputs, 200, 8, [INPUT]),
    Group("addresses", "Hostile addresses", open_addresses, 60, 3, [ADDRESS]),
)
