"""A user's own methods from outside: whatever one does ends in one sentence, and nothing else of it
reaches another run or outlives its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import own_methods
import psutil
import pytest

from mucore import cli
from mucore.store import open_store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="misbehaves in ways of Unix"),
]
# What it does -> what the sentence names.
FAILS = {
    "1 / 0": "ZeroDivisionError: division by zero (",
    "os._exit(0)": "exit code 0",
    "os.kill(os.getpid(), 11)": "exit code -11",
    "pass": "NoneType",
    "return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))": "no network of the original's form",
    "model.register_forward_hook(lambda m, x, y: y * 0); return model": "a hook",
    "while True: time.sleep(1)": "MUCORE_METHOD_SECONDS",
    "kept = [bytearray(os.urandom(1 << 20)) * 64 for _ in iter(int, 1)]": "MUCORE_METHOD_GB",
}
SPOILS = (
    "print('{}' * 10**6); sys.stdout.buffer.write(bytes(range(256)) * 10**4); "
    "data.forget.images.pixels.zero_(); data.retain.labels.zero_(); data.retain.ids.fill_(3); "
    "torch.set_grad_enabled(False); torch.manual_seed(3); "
    "nn.functional.cross_entropy = None; sys.modules['mucore.engine.loop'].fit = None; "
    "os.chdir('/'); os.environ['SPOILT'] = '1'; assert not any('TOKEN' in n for n in os.environ); "
    "import subprocess; subprocess.run('setsid sleep 604.25 &', shell=True); return model"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, part in {"MUCORE_HOME": "home", "MUCORE_PLUGINS": "own"}.items():
        monkeypatch.setenv(name, str(tmp_path / part))
    for name in ("API_TOKEN", "HOMEBREW_GITHUB_API_TOKEN"):
        monkeypatch.setenv(name, "secret")
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def flags(methods: str) -> list[str]:
    task = ["--dataset", "digits", "--model", "mlp", "--scenario", "class_wise"]
    return ["run", *task, "--methods", methods, "--preset", "quick", "--set", "recipe.epochs=2"]


def weights(home: Path) -> dict[str, dict[str, np.ndarray]]:
    """By method."""
    with open_store(home) as store:
        kept = {str(each.spec["method"]): each.weights for each in store.results()}
        return {name: store.artifacts.get_arrays(each) for name, each in kept.items() if each}


def test_each_fault_is_one_sentence(folder, monkeypatch):
    monkeypatch.setenv("MUCORE_METHOD_GB", "2")
    monkeypatch.setenv("MUCORE_METHOD_SECONDS", "20")
    for number, body in enumerate(FAILS):
        own_methods.write(folder, f"mine_{number}", body)
    names = [f"mine_{number}" for number in range(len(FAILS))]
    assert cli.main(flags(",".join([*names, "finetune"]))) == 1
    with open_store(folder.parent / "home") as store:
        errors = {str(job.spec["method"]): job.error for job in store.jobs(states=["failed"])}
    assert list(errors) == names
    for name, words in zip(names, FAILS.values(), strict=True):
        said = errors[name] or ""
        assert said.startswith(f"{name} ") and words in said and said.endswith("."), said
        assert "\n" not in said and len(said) < 600
    assert set(weights(folder.parent / "home")) == {"original", "retrain", "finetune"}


def test_what_it_spoils_it_spoils_for_itself(folder, monkeypatch):
    own_methods.write(folder, "mine", SPOILS)
    copy = own_methods.copy_of(folder, "amnesiac")  # which needs a record of the training
    here = os.getcwd()
    assert cli.main(flags(f"mine,finetune,amnesiac,{copy}")) == 0
    found = weights(folder.parent / "home")
    monkeypatch.setenv("MUCORE_HOME", str(folder.parent / "undisturbed"))
    assert cli.main(flags("finetune")) == 0
    alone = weights(folder.parent / "undisturbed")["finetune"]
    for one, other in ((found["finetune"], alone), (found[copy], found["amnesiac"])):
        assert other and all(np.array_equal(one[name], other[name]) for name in other)
    assert os.getcwd() == here and "SPOILT" not in os.environ
    lines = [each.info["cmdline"] or () for each in psutil.process_iter(["cmdline"])]
    assert not any("604.25" in line for line in lines)  # of a process that just ended: None


def test_it_ends_with_its_parent(folder):
    pid = folder / "pid"
    own_methods.write(
        folder, "mine", f"open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-m", "mucore", *flags("mine")])
    while not (pid.is_file() and pid.read_text()):
        assert parent.poll() is None
        time.sleep(0.1)
    parent.kill()
    parent.wait()
    psutil.wait_procs([psutil.Process(int(pid.read_text()))], timeout=20)
    assert not psutil.pid_exists(int(pid.read_text()))
