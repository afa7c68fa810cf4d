"""Sections of docs/benchmarks.md."""

from __future__ import annotations

from mucore.bench import page


def test_a_section_takes_the_place_of_its_like(tmp_path, monkeypatch):
    path = tmp_path / "benchmarks.md"
    path.write_text("# Benchmarks\n\nold\n\n## Pages\n\nkept\n")
    monkeypatch.setattr(page, "PAGE", path)
    page.put_section("# Benchmarks\n\nnew\n")
    page.put_section("## Size\n\nlast\n")
    assert path.read_text() == "# Benchmarks\n\nnew\n\n## Pages\n\nkept\n\n## Size\n\nlast\n"
