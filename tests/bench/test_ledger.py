"""Figures outlive an interrupted pass, and go with the code that they were measured on."""

from __future__ import annotations

from mucore.bench import ledger
from mucore.bench.ledger import Ledger


def test_figures_are_there_again(tmp_path):
    path = tmp_path / "deep" / "figures.jsonl"
    Ledger(path).put("a", {"seconds": 1.0})
    again = Ledger(path)
    again.put("a", {"seconds": 2.0})
    again.put("b", {"seconds": 3.0})
    assert Ledger(path).get("a") == {"seconds": 2.0} and Ledger(path).get("b") == {"seconds": 3.0}
    assert Ledger(path, fresh=True).get("a") is None and not path.exists()


def test_a_line_cut_short_costs_itself_alone(tmp_path):
    path = tmp_path / "figures.jsonl"
    Ledger(path).put("a", {"seconds": 1.0})
    path.write_text(path.read_text() + '{"name": "b", "figu')
    kept = Ledger(path)
    assert kept.get("a") == {"seconds": 1.0} and kept.get("b") is None
    kept.put("c", {"seconds": 3.0})
    assert Ledger(path).get("c") == {"seconds": 3.0}


def test_figures_hold_for_the_code_of_the_method_and_what_all_rest_on(tmp_path, monkeypatch):
    root = tmp_path / "mucore"
    for name in ("__init__.py", "engine/loop.py", "methods/one.py", "methods/two.py", "titles.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    monkeypatch.setattr(ledger.mucore, "__file__", str(root / "__init__.py"))

    def hashes() -> tuple[str, str]:
        ledger.code_hash.cache_clear()
        return ledger.code_hash("one"), ledger.code_hash("two")

    before = hashes()
    (root / "titles.py").write_text("NAME = 1")
    assert hashes() == before
    (root / "methods" / "one.py").write_text("RATE = 1")
    changed = hashes()
    assert changed[0] != before[0] and changed[1] == before[1]
    (root / "engine" / "loop.py").write_text("STEPS = 1")
    assert hashes()[0] != changed[0] and hashes()[1] != changed[1]
    ledger.code_hash.cache_clear()
