"""What is said of a search before it begins holds for whatever comes of it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mucore.tuning.plan import SEED, Plan, Wish, left
from mucore.tuning.study import Study, Trial

NOTHING = Study({}, "finetune", "1", SEED, 0.3, False)


def trial(setting, seed, score, over):
    values = {"lr": float(setting)}
    return Trial(seed=seed, values=values, score=score, work=0.1, seconds=1.0, over=over)


def taken(study, wish, rows, *, most=10_000):
    """The trials that a search adds, `most` at most; `rows`: a score and whether it took too much
    of each setting on each seed.
    """
    added = 0
    while added < most and not study.finished(wish.trials):
        setting, seed = len(study.settings), SEED
        if waiting := study.pending():
            setting, seed = int(waiting[0].values["lr"]), SEED + len(waiting[0].trials)
        score, over = rows[setting][seed - SEED]
        study = replace(study, trials=(*study.trials, trial(setting, seed, score, over)))
        added += 1
    return study, added


def test_no_more_processes_count_than_there_are_studies_and_references_come_before():
    found = Plan(references=11, trials=60, studies=3, making=100.0, trying=600.0)
    times = [found.time(processes) for processes in (1, 2, 3, 8)]
    assert times == [700.0, 400.0, 300.0, 300.0]
    assert Plan(done=34).time(4) == 0.0


SEEDS = st.tuples(*[st.tuples(st.integers(0, 20), st.integers(0, 9).map(lambda n: n == 0))] * 3)


@given(st.lists(SEEDS, min_size=2, max_size=20), st.data())
def test_no_study_takes_more_trials_than_were_said_to_be_left(rows, data):
    few = data.draw(st.integers(1, len(rows)))
    wish = Wish([], trials=len(rows))
    study, _ = taken(NOTHING, Wish([], trials=few), rows, most=data.draw(st.integers(0, 30)))
    while (said := left(wish, study)) > 0:
        _, real = taken(study, wish, rows)
        assert real <= said
        study, added = taken(study, wish, rows, most=1)
        assert left(wish, study) < said and added == 1
    assert study.finished(wish.trials)


def test_the_most_that_are_left_can_come_to_pass():
    """Each setting is better than the one before."""
    rows = [((100 - number, False),) * 3 for number in range(60)]
    for before, after in ((0, 24), (24, 60), (24, 25)):
        some, _ = taken(NOTHING, Wish([], trials=before or 1), rows) if before else (NOTHING, 0)
        assert left(Wish([], trials=after), some) == 3 * (after - before)
        assert taken(some, Wish([], trials=after), rows)[1] == 3 * (after - before)
    assert left(Wish([]), None) == 3 * 60
