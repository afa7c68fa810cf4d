"""Launch's tab that judges a reader's own network from files."""

from __future__ import annotations

import numpy as np
import torch
from pages import button, open_page, words_on
from torch import nn

from dashboard import access, state
from mucore import datasets
from mucore.store import open_store

NETWORK = "from torch import nn\ndef net(): return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))"


def given(folder, **changes):
    (folder / "own.py").write_text(NETWORK)
    np.save(folder / "ids.npy", datasets.load("digits", validation_from="test").train.rows[:40])
    query = {"tab": "judge", "dataset": "digits", "pixels": "0..1", "forget": f"{folder}/ids.npy"}
    torch.manual_seed(0)  # some networks that learned nothing seem to know classes in another order
    for name in ("unlearned", "original", "retrained"):
        torch.save(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)).state_dict(), folder / name)
        query[name] = str((folder / name).rename(folder / f"{name}.pth"))
    return query | {"network": f"{folder}/own.py:net"} | changes


def test_files_are_judged_and_kept_and_the_answer_is_on_the_page(home, tmp_path):
    at = button(open_page("launch", **given(tmp_path)), "Judge it").click().run()
    assert state.ticket_of(at, "judging").process.wait(120) == 0
    at.run()
    assert not at.exception and not at.error
    with open_store(home) as store:
        (comparison,) = store.comparisons()
        found = {one.spec["method"]: one for one in store.results(keys=comparison.keys)}
    assert set(found) == {"uploaded", "original", "retrain"}
    assert found["uploaded"].forget_count == 40
    assert "0..1" in words_on(at) and button(at, "Judge another") and at.get("image")


def test_what_cannot_be_judged_is_said(home, tmp_path, monkeypatch):
    at = button(open_page("launch", **given(tmp_path, original="/no.pth")), "Judge it")
    assert "/no.pth" in at.click().run().error[0].value
    monkeypatch.setattr(access, "why_no_code", lambda: access.NO_CODE)
    at = button(open_page("launch", **given(tmp_path)), "Judge it").click().run()
    assert at.error and state.ticket_of(at, "judging") is None
