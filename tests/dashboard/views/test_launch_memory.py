"""A run that would not fit into memory is told on the Launch page before it starts."""

from __future__ import annotations

from pathlib import Path

import psutil
from pages import button, open_page

from mucore import fitting


def test_the_launch_page_warns_and_lets_start(home, monkeypatch):
    chosen = {"dataset": "digits", "model": "mlp", "scenarios": ["class_wise"]}
    at = open_page("launch", **chosen, methods=["finetune"])
    assert not at.exception and not at.warning
    free = psutil.virtual_memory()._replace(available=300_000_000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    monkeypatch.setattr(fitting, "CGROUP", Path("/nowhere"))
    at = open_page("launch", **chosen, methods=["ssd"])
    assert not at.exception and len(at.warning) == 1
    assert "0.3 GB" in at.warning[0].value and not button(at, "Start").disabled
