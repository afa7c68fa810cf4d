"""One spec to one result, on real digits: references, caching, seeds, reproducibility, resuming."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from builders import delete_result
from launching import digits as spec

from mucore import training
from mucore.engine.run import Callbacks, Progress
from mucore.errors import Cancelled, MucoreError
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.runs import make_recipe, make_spec
from mucore.store import open_store
from mucore.store.transient_errors import FILES, awaited


def value(result, metric) -> float:
    measured = result.metrics[metric].value
    assert measured is not None, result.metrics[metric].error
    return measured


def weights(session, key):
    return session.store.artifacts.get_arrays(session.store.get_model(key).weights)


def test_a_run_brings_its_references_and_is_stored_once(store):
    session, wanted = Session(store, "cpu"), spec()
    result = execute(wanted, session)
    assert session.store.known([s.key for s in (wanted, *wanted.needs())]) == {
        s.key for s in (wanted, *wanted.needs())
    }
    assert result.status == "ok"
    # 20 % of class 0 of the training digits
    zeros = int((session.splits(wanted).train.labels == 0).sum())
    assert result.forget_count == round(0.2 * zeros)
    assert result.forget_count + result.retain_count == len(session.splits(wanted).train)
    retrain = store.get_result(wanted.retrained().key)
    assert result.metrics["ta"].gap == pytest.approx(value(result, "ta") - value(retrain, "ta"))
    assert value(retrain, "rte") == 1
    assert result.cost["evaluation_processor_seconds"] > 0
    again = execute(wanted, session)
    assert again.finished == result.finished  # the stored record, not a second computation


def test_the_original_never_sees_a_scenario_and_is_shared(session):
    one, other = spec("original", "one_class"), spec("original", "class_wise")
    assert one.key != other.key and one.model_key == other.model_key == one.original().model_key
    first, second = execute(one, session), execute(other, session)
    assert first.weights == second.weights
    assert first.metrics["ta"].value == second.metrics["ta"].value
    assert value(second, "fa") > 0.9  # it learned the class it has not yet forgotten


def test_an_evaluation_seed_measures_the_same_model_again(session):
    first, second = (
        execute(spec(evaluation_seed=0), session),
        execute(spec(evaluation_seed=1), session),
    )
    assert first.key != second.key and first.model_key == second.model_key
    assert first.cost["seconds"] == second.cost["seconds"]
    assert first.metrics["ta"].value == second.metrics["ta"].value


def test_retrain_on_everything_is_the_original_bit_by_bit(session):
    """With an empty forget set Retrain repeats the original's run."""
    base = spec("retrain").original()
    splits = session.splits(base)
    model, _ = training.train_original(base, session.run(base, 0), splits)
    again = training.retrain(
        spec("retrain"), session.run(base, 0), splits, session.samples(base, "train")
    )
    for one, other in zip(model.state_dict().values(), again.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_retrain_never_reads_the_forget_set_and_fresh_starts_elsewhere(session):
    same = execute(spec("retrain"), session)
    assert set(same.cost["reads"]) == {"retain/backward"}
    fresh = execute(spec("retrain", parameters={"init_policy": "fresh"}), session)
    assert fresh.model_key != same.model_key
    assert value(fresh, "l2") > 0


def convolutions(revision):
    return make_spec(
        dataset="digits",
        model="resnet9-small",
        recipe=make_recipe(
            "quick", {"epochs": 3, "batch_size": 256, "per_class": 60, "revision": revision}
        ),
        scenario="one_class",
        method="finetune",
    )


def test_revisions_of_a_recipe_differ_in_the_layout_of_weights_and_in_rounding_alone(session):
    networks, slopes = {}, {}
    for revision in (1, 2):
        base = convolutions(revision).original()
        splits = session.splits(base)
        network = training.fresh_model(base, splits, 0)
        x = splits.train.pixels[:32].float() / 255
        torch.nn.functional.cross_entropy(network(x), splits.train.labels[:32]).backward()
        networks[revision] = network.state_dict()
        slopes[revision] = {name: p.grad for name, p in network.named_parameters()}
    first, second = networks[1], networks[2]
    inner = [name for name, t in first.items() if t.dim() == 4 and t.shape[1] > 1]
    assert len(inner) == 7
    for name in inner:
        assert first[name].is_contiguous() and not second[name].is_contiguous()
        assert second[name].is_contiguous(memory_format=torch.channels_last)
    for name, slope in slopes[1].items():
        assert torch.equal(first[name], second[name])
        largest = float(slope.abs().max())
        torch.testing.assert_close(slopes[2][name], slope, rtol=0, atol=1e-4 * largest)


def test_a_network_comes_out_of_the_store_as_it_went_in(session):
    base = convolutions(2).original()
    trained, _ = session.original(base)
    loaded, _ = session.load_model(base)
    for one, other in zip(trained.state_dict().values(), loaded.state_dict().values(), strict=True):
        assert torch.equal(one, other) and one.stride() == other.stride()


@pytest.mark.parametrize("base", [spec().original(), convolutions(2).original()])
def test_training_killed_after_an_epoch_resumes_to_the_same_weights(session, base):
    splits = session.splits(base)
    straight, _ = training.train_original(base, session.run(base, 0), splits)

    def die(progress: Progress) -> None:
        if progress.epoch == 1 and progress.loss is not None:
            raise KeyboardInterrupt

    checkpoints = session.checkpoints(base)
    with pytest.raises(KeyboardInterrupt):
        training.train_original(
            base, session.run(base, 0, Callbacks(die)), splits, checkpoints=checkpoints
        )
    assert checkpoints.path.exists()
    run = session.run(base, 0)
    resumed, _ = training.train_original(base, run, splits, checkpoints=checkpoints)
    assert "resumed after epoch 1 of 3" in run.notes
    assert len(run.losses) == 3
    assert run.cost.steps == 3 * -(-len(splits.train) // base.recipe.batch_size)
    for one, other in zip(
        straight.state_dict().values(), resumed.state_dict().values(), strict=True
    ):
        assert torch.equal(one, other)


def test_a_damaged_checkpoint_starts_over(tmp_path):
    path = tmp_path / "half.pt"
    path.write_bytes(b"not a checkpoint")
    assert training.DiskCheckpoints(path).load() is None


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_training(session, tmp_path, caplog):
    base = spec().original()
    (tmp_path / "file").write_text("not a folder")
    checkpoints = training.DiskCheckpoints(tmp_path / "file" / "state.pt")
    run = session.run(base, 0)
    training.train_original(base, run, session.splits(base), checkpoints=checkpoints)
    assert len(run.losses) == 3
    assert "no checkpoint could be written" in caplog.text


def test_cancel_stops_at_the_next_step_and_keeps_what_is_finished(store):
    session, base = Session(store, "cpu"), spec().original()
    execute(base, session)
    with pytest.raises(Cancelled):
        execute(spec("retrain"), session, Callbacks(cancelled=lambda: True))
    assert session.store.known([base.key, spec("retrain").key]) == {base.key}


def test_weights_that_are_gone_are_computed_anew(session):
    wanted = spec()
    first = execute(wanted, session)
    before = weights(session, wanted.original().model_key)
    for name in (session.store.get_model(wanted.original().model_key).weights,):
        next(session.store.home.rglob(name)).unlink()
    execute(spec("ssd"), session)
    after = weights(session, wanted.original().model_key)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert session.store.get_result(wanted.key) == first


def missing(result) -> set[str]:
    return {name for name, measured in result.metrics.items() if measured.value is None}


@pytest.mark.parametrize("which", ["retrained", pytest.param("both", marks=pytest.mark.slow)])
def test_files_of_references_that_are_lost_are_made_again_and_their_numbers_stay(session, which):
    whole = execute(spec(), session)
    references = {"original": spec().original().key, "retrained": spec().retrained().key}
    before = [
        session.store.get_result(key) for name, key in references.items() if which in (name, "both")
    ]
    for name in (name for each in before for name in (each.outputs, each.weights)):
        session.store.artifacts.storage.local(name).unlink()
    later = Session(session.store, "cpu")  # with nothing in memory
    result = execute(spec(unlearning_seed=1), later)
    assert missing(result) == missing(whole)
    for each in before:
        again = session.store.get_result(each.key)
        assert again == replace(each, outputs=again.outputs, weights=again.weights)
        assert all(map(session.store.artifacts.content, (again.outputs, again.weights)))
    # cleared away by the store itself, they stay away
    session.store.gc("numbers", young_seconds=0)
    result = execute(spec(unlearning_seed=2), Session(session.store, "cpu"))
    assert missing(result) > missing(whole)


@pytest.mark.slow
def test_files_out_of_reach_are_not_taken_for_lost(tmp_path):
    """As where a shared folder is not mounted."""
    shared, away = tmp_path / "shared", tmp_path / "away"
    with open_store(
        tmp_path / "home", artifacts=f"file://{shared}", url=f"sqlite:///{tmp_path}/db"
    ) as store:
        whole = execute(spec(), Session(store, "cpu"))
        retrain = store.get_result(spec().retrained().key)
        assert retrain is not None
        shared.rename(away)
        shared.mkdir()
        with pytest.raises(MucoreError) as problem:
            execute(spec(unlearning_seed=1), Session(store, "cpu"))
        assert awaited(problem.value) == FILES and not any(shared.iterdir())
        shared.rmdir()
        away.rename(shared)
        result = execute(spec(unlearning_seed=1), Session(store, "cpu"))
        assert missing(result) == missing(whole)
        assert store.get_result(retrain.key) == retrain


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_in_another_process(session, tmp_path_factory):
    wanted = spec("scrub", unlearning_seed=3, training_seed=2)
    execute(wanted, session)
    home = tmp_path_factory.mktemp("other")
    code = (
        "import sys\n"
        "from mucore.runner.execute import execute\n"
        "from mucore.runner.session import Session\n"
        "from mucore.runs import RunSpec\n"
        "from mucore.store import open_store\n"
        f"import torch; torch.set_num_threads({torch.get_num_threads()})\n"
        f"with open_store({str(home)!r}) as store:\n"
        "    spec = RunSpec.model_validate_json(sys.stdin.read())\n"
        "    print(execute(spec, Session(store, 'cpu')).weights)"
    )
    text = wanted.model_dump_json()
    command = [sys.executable, "-c", code]
    around = {**os.environ, "PYTHONHASHSEED": "5"}
    other = subprocess.run(
        command, input=text, capture_output=True, text=True, check=True, env=around
    )
    # files are named by their content
    assert other.stdout.strip() == session.store.get_model(wanted.model_key).weights


def test_a_run_is_compared_with_the_original_and_retrain_sample_by_sample(session):
    wanted = spec(scenario="class_wise")
    result = execute(wanted, session)
    reference = session.store.get_result(wanted.retrained().key)
    for split in ("forget", "retain", "test"):
        assert (
            0 < value(result, f"cka_retrain_{split}") < 1
            and 0 < value(result, f"cka_original_{split}") < 1
        )
        assert value(reference, f"cka_retrain_{split}") == pytest.approx(1)
        assert result.metrics[f"cka_original_{split}"].gap == pytest.approx(
            value(result, f"cka_original_{split}") - value(reference, f"cka_original_{split}")
        )
    assert 0 < value(result, "js_divergence") <= 1 and value(reference, "js_divergence") == 0
    gaps = [abs(result.metrics[name].gap or 0.0) for name in ("fa", "ra", "tfa", "tra")]
    assert value(result, "average_gap_classes") == pytest.approx(np.mean(gaps))
    assert value(result, "agl") == pytest.approx(np.prod([1 - gap for gap in gaps]))
    assert 0 <= value(result, "linear_probe") <= 1 and 0 <= value(result, "zrf") <= 1


def test_the_original_looks_the_same_whether_or_not_its_row_was_there(session):
    """Without the row its predictions on the scenario's sets are made again."""
    without = execute(spec(), session)
    row = execute(spec("original"), session)
    delete_result(session.store, spec().key)
    after = execute(spec(), session)
    names = [f"cka_original_{split}" for split in ("retain", "test")]
    assert [value(after, name) for name in names] == pytest.approx(
        [value(without, name) for name in names], rel=1e-6
    )
    assert [value(row, name) for name in names] == pytest.approx([1, 1])
