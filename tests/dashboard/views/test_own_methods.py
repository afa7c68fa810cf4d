"""A user's own methods on the pages: under a heading of their own, and a warning where a file
cannot be read.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_result
from pages import links, open_page

from dashboard import queue_data
from mucore.catalog import tuning
from mucore.runner.grid import parse_grid
from mucore.store import open_store
from mucore.userfiles import paths

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def own_file(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a method that works, beside one that cannot be read."""
    own = tmp_path / "own"
    own.mkdir()
    example = (ROOT / "docs" / "examples" / "gaussian_noise.py").read_text(encoding="utf-8")
    working = own / "gaussian_noise.py"
    working.write_text(example, encoding="utf-8")
    (own / "broken.py").write_text("CARD = ", encoding="utf-8")
    monkeypatch.setenv("MUCORE_PLUGINS", str(own))
    return working


def test_launch_offers_them_and_warns_of_those_it_cannot_read():
    at = open_page("launch", dataset="digits", model="mlp", scenario="one_class")
    assert not at.exception
    at.button_group(key="url:methods").select("gaussian_noise").run()
    assert not at.exception and "gaussian_noise" in at.query_params["methods"]
    (warning,) = [one.value for one in at.warning]
    assert "broken.py" in warning and "line 1" in warning


def test_a_plan_takes_the_method_and_the_tuned_settings_of_now(
    home: Path, own_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = parse_grid(
        {
            "dataset": "digits",
            "model": "mlp",
            "scenarios": [{"id": "one_class"}],
            "methods": [{"id": "gaussian_noise"}, {"id": "finetune", "preset": "tuned"}],
        }
    )

    def own() -> str:
        return next(x.method_hash for x in queue_data.plan(grid).specs if x.method_hash)

    first = own()
    assert own() == first
    with own_file.open("a", encoding="utf-8") as file:
        file.write("\n# edited\n")
    second = own()
    assert second != first
    calls = []
    monkeypatch.setattr(queue_data, "make_plan", lambda *_, **__: calls.append(1))
    queue_data.plan(grid)
    assert not calls
    (paths.default_home() / tuning.FILE).write_text("{}", encoding="utf-8")
    queue_data.plan(grid)
    assert calls


def test_the_runs_of_a_method_that_is_gone_are_still_shown(home: Path, own_file: Path) -> None:
    with open_store(home) as store:
        for method in ("original", "retrain", "gaussian_noise"):
            result = make_result(method=method)
            store.put_result(result)
    own_file.unlink()
    at = open_page("start", run=result.key)
    assert not at.exception
    assert any(one.value.startswith("# No command") for one in at.code)
    assert "How this method works" not in links(at)
    at = open_page("start", run=make_result(method="retrain").key)
    assert "How this method works" in links(at)
