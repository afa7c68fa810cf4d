"""The table of what methods cost: figures from where they belong, and none lost on the way."""

from __future__ import annotations

import pytest

from mucore import catalog, cli
from mucore.bench import methods, page, runs
from mucore.bench.clock import Spread


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    return tmp_path


def figures(seconds: float, **others: float) -> dict:
    return {
        "seconds": seconds,
        "forward": 10,
        "backward": 30,
        "prepared": 0.0,
        "scratch": 0,
        "persistent": 0,
        "peak": 0,
        "copy": 100,
        "status": "ok",
        "scenario": "class_wise",
    } | others


def test_every_round_is_compared_with_its_own_retrain():
    line = methods.measured(
        "scrub",
        [figures(1.0, scratch=250, peak=400), figures(9.0, peak=900), figures(2.0)],
        [figures(10.0, backward=63, forward=11), figures(30.0), figures(10.0)],
    )
    assert line.seconds == Spread(1.0, 2.0, 9.0) and line.ratio == Spread(0.1, 0.2, 0.3)
    # a sample with a gradient is three passes: 100 of 200
    assert line.work == 0.5 and line.held == 2.5 and line.peak == 9.0


def test_the_command_measures_and_goes_on_where_it_was(home, capsys, monkeypatch):
    command = ["bench", "finetune,delete", "--methods", "--quick", "--device", "cpu"]
    assert cli.main(command) == 0
    first = capsys.readouterr().out
    measured = []
    monkeypatch.setattr(runs, "measure", lambda *given, **more: measured.append(given) or {})
    assert cli.main(command) == 0
    assert capsys.readouterr().out == first and not measured
    rows = [line.split(" | ") for line in first.splitlines()[2:]]
    assert {row[0].removeprefix("| ") for row in rows} == {"retrain", "finetune", "delete"}
    work = {row[0].removeprefix("| "): float(row[3]) for row in rows}
    # one epoch of fine-tuning reads what a Retrain of one epoch reads
    assert work["retrain"] == work["finetune"] == 1.0 != work["delete"]


def test_a_method_that_fails_is_a_line_and_the_rest_goes_on(home, capsys, monkeypatch):
    real = runs.measure

    def measure(spec, session, **more):
        if spec.method == "finetune":
            raise RuntimeError("the machine\nis on fire")
        return real(spec, session, **more)

    monkeypatch.setattr(runs, "measure", measure)
    command = ["bench", "finetune", "delete", "--methods", "--quick", "--device", "cpu"]
    assert cli.main(command) == 1
    out = capsys.readouterr().out
    assert "| delete |" in out and "finetune was not measured: the machine is on fire" in out
    monkeypatch.setattr(runs, "measure", real)
    assert cli.main(command) == 0  # a failure is no figure: it is tried again


def test_figures_are_measured_as_a_run_of_the_queue_reads(home):
    with runs.kept("test", "cpu") as (session, ledger):
        where = methods.setting(quick=True)
        spec = where.spec("amnesiac")  # which needs a training record
        one = runs.recorded(ledger, spec, session)
        assert one["prepared"] > 0 and one["persistent"] == pytest.approx(one["copy"], rel=0.01)
        kept = len(session.samples(spec, "train")) - one["forgotten"]
        # one repair epoch at least, over the retain set
        assert one["forward"] == 0 and one["backward"] % kept == 0 and one["backward"] > 0
        assert runs.recorded(ledger, spec, session) is ledger.get(next(iter(ledger._figures)))
        assert "stopped" in runs.recorded(
            ledger, where.spec("finetune"), session, limit=-1.0, repeat=7
        )


def test_names_are_checked_and_all_methods_are_those_that_need_nothing_of_the_user():
    with pytest.raises(Exception, match="scrub"):
        runs.compared(["skrub"])
    everything = runs.compared(None)
    assert "uploaded" not in everything and "retrain" not in everything and len(everything) > 35
    assert runs.compared(["SCRUB+R", "scrub_rewind"]) == ["scrub_rewind"]
    assert methods.setting(True).spec("scrub_rewind").scenario == "all_classes"


def test_the_section_names_what_is_costly_and_has_no_bound(monkeypatch, tmp_path):
    path = tmp_path / "bounds.toml"
    path.write_text('[ntk]\npublished = "0.046"\nbound = "One row of the Jacobian a logit."\n')
    monkeypatch.setattr(methods, "BOUNDS", path)

    def line(name: str, ratio: float, held: float = 0.0, **more) -> methods.Measured:
        each = Spread.of([ratio])
        return methods.Measured(name, each, each, held=held, **more)

    found = [
        line("finetune", 0.1),
        line("retrain", 1.0),
        line("ntk", 1.9, 13.0),
        line("scar", 0.1, 7.0, status="diverged"),
        methods.Measured("pgu", error="out of memory"),
    ]
    text = methods.section(found, 3, page.machine("cpu"))
    assert "| scar (diverged) | 0.10 | 0.10 |" in text
    assert "copies: ntk, scar. Without a lower bound below: scar." in text
    row = next(line for line in text.splitlines() if "One row of the Jacobian a logit." in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == ["0.046", "–", "1.90; 13.0 held, 0.0 kept"]
    assert "pgu was not measured: out of memory" in text
    assert catalog.method("ntk").storage in text


def test_the_costly_ones_stand_by_their_share_of_a_retrain():
    shares = {"pgu": (9.0, 0.56), "gkt": (1.0, 124.0), "second_order": (12.0, 0.36)}
    found = [
        methods.Measured(name, Spread.of([seconds]), Spread.of([share]))
        for name, (seconds, share) in shares.items()
    ]
    titles = [line.split(" | ")[0].removeprefix("| ") for line in methods.costs(found).split("\n")]
    assert titles[2:] == [
        catalog.method(name).title for name in sorted(shares, key=lambda name: shares[name][1])
    ]


def test_bounds_are_of_methods():
    assert {catalog.method(name).id for name in methods.bounds()} == set(methods.bounds())
    for said in methods.bounds().values():
        assert set(said) <= {"published", "official", "bound"} and said["bound"].endswith(".")
