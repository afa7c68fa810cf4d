"""What a plan says bf16 would gain goes by the processor's flags, and needs no torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from mucore import cli
from mucore.runner import estimate
from mucore.runner.estimate import precision

# where they were measured
RECORD = Path(__file__).parents[2] / "docs" / "records" / "benchmarks-2026-11.md"
FLAGS = {
    "amx": "fpu sse2 avx512f avx512_bf16 amx_bf16 amx_tile",
    "avx512_bf16": "fpu sse2 avx512f avx512_bf16",
    "none": "fpu sse2 avx512f avx2",
}


@pytest.fixture
def cpuinfo(tmp_path, monkeypatch):
    """A function that gives this machine a processor with other flags."""
    precision.processor.cache_clear()

    def write(text: str) -> None:
        (tmp_path / "cpuinfo").write_text(text, encoding="utf-8")
        precision.processor.cache_clear()

    monkeypatch.setattr(precision, "CPUINFO", tmp_path / "cpuinfo")
    yield write
    precision.processor.cache_clear()


@pytest.mark.parametrize("kind", FLAGS)
def test_a_processor_is_known_by_its_flags(kind, cpuinfo):
    cpuinfo(f"processor\t: 0\nmodel name\t: Some\nflags\t\t: {FLAGS[kind]}\nbugs\t\t: none\n")
    assert precision.processor() == kind
    assert estimate.gain("cpu") == precision.GAINS[kind]
    assert estimate.gain("cuda:1") == precision.ON_GPU


def test_figures_are_those_of_the_benchmarks():
    text = RECORD.read_text(encoding="utf-8")
    for kind, figures in (
        ("avx512_bf16", ("34.4", "28.9")),
        ("amx", ("32.6", "38.6", "88.6", "89.7")),
    ):
        for figure in figures:
            assert figure in precision.GAINS[kind] and figure in text


def test_the_command_line_says_it_where_another_precision_was_chosen(
    tmp_path, monkeypatch, capsys, cpuinfo
):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    cpuinfo(f"flags : {FLAGS['avx512_bf16']}\n")
    command = ["plan", "--dataset", "digits", "--model", "mlp", "--scenario", "one_class"]
    command += ["--methods", "finetune", "--preset", "quick"]
    assert cli.main(command) == 0
    assert precision.GAINS["avx512_bf16"] not in capsys.readouterr().out
    assert cli.main([*command, "--set", "recipe.precision=auto"]) == 0
    assert precision.GAINS["avx512_bf16"] in capsys.readouterr().out
