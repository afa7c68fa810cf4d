"""A user's own methods on the pages: under a heading of their own, and a warning where a file
cannot be read.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import open_page

from mucore import catalog

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def own_methods(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that works, and a file that cannot be read."""
    own = tmp_path / "own"
    own.mkdir()
    example = (ROOT / "docs" / "examples" / "gaussian_noise.py").read_text(encoding="utf-8")
    (own / "gaussian_noise.py").write_text(example, encoding="utf-8")
    (own / "broken.py").write_text("CARD = ", encoding="utf-8")
    monkeypatch.setenv("MUCORE_PLUGINS", str(own))


def test_launch_offers_them_under_their_own_heading():
    at = open_page("launch", dataset="digits", model="mlp", scenario="one_class")
    assert not at.exception
    assert f"**{catalog.FAMILIES['own']}**" in [one.value for one in at.markdown]
    box = next(one for one in at.checkbox if one.label == "Gaussian noise")
    box.check().run()
    assert not at.exception and "gaussian_noise" in at.query_params["methods"]
    (warning,) = [one.value for one in at.warning]
    assert "broken" in warning and "no Python file" in warning


def test_the_method_page_shows_the_card():
    at = open_page("method", method="gaussian_noise")
    assert not at.exception
    assert any("Gaussian noise" in one.value for one in at.markdown) or any(
        "Gaussian noise" in one.value for one in at.title
    )
    assert any(catalog.FAMILIES["own"] in one.value for one in [*at.caption, *at.markdown])
