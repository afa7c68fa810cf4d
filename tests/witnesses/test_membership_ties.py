"""What an attack answers where it cannot decide: as the official code's `SVC.predict`, which calls
a tie a member.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from mucore.metrics import mia

SIDE = 40  # samples of each side that are drawn; half of them fit the attack


def predicted(right: int, of: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and labels of samples of which the first `right` are right, each as sure as the
    others.
    """
    labels = np.zeros(of, dtype=np.int64)
    probabilities = np.tile([0.2, 0.8], (of, 1))
    probabilities[:right] = [0.8, 0.2]
    return probabilities, labels


def official(members: np.ndarray, nonmembers: np.ndarray, asked: np.ndarray) -> float:
    """Share called unseen by Unlearn-Sparse's `SVC_MIA.py`: 1 minus the mean of `SVC.predict`, 1
    being a member.
    """
    machine = SVC(C=3, gamma="auto", kernel="rbf").fit(
        np.concatenate([members, nonmembers]), np.repeat([1, 0], [len(members), len(nonmembers)])
    )
    return float(1 - machine.predict(asked).mean())


@pytest.mark.parametrize("right", [0, SIDE])
def test_an_attack_on_equal_features_calls_everything_a_member(right: int):
    # All members and all non-members have one feature value x. The dual of the machine is max
    # sum(a) - a' Q a / 2 with sum(y a) = 0 and Q = y y', so the second term is 0 and each a is C:
    # the decision is f(x) = C n - C n + b = b, and by symmetry b = 0. Libsvm votes "first class"
    # where its value (the negative of f) is above 0, and "second class", which is the member,
    # otherwise.
    same = predicted(right, SIDE)
    found = mia.run_attack(
        "correctness",
        forget=predicted(right, 10),
        members=same,
        nonmembers=same,
        cap=SIDE,
        evaluation_seed=0,
    )
    x = np.full((SIDE // 2, 1), float(right > 0))
    assert found.efficacy == official(x, x, x[:10]) == 0.0
    assert found.attack_accuracy == 0.5
    assert mia.attack_is_blind(found.attack_accuracy, found.held_out)


@pytest.mark.parametrize(
    ("members", "nonmembers", "unseen"),
    [(20, 12, 0.3), (12, 20, 0.7), (13, 12, 0.3), (12, 13, 0.7)],
)
def test_one_sample_more_decides(members: int, nonmembers: int, unseen: float):
    # Of 20 members and 20 non-members, so many are right. The machine says "member" of the value
    # that more of the members have: 7 of 10 forgotten samples are right, so it calls 30 % unseen
    # where right is a member's, and 70 % where it is not.
    inside, outside = (
        np.repeat([[1.0], [0.0]], [right, 20 - right], axis=0) for right in (members, nonmembers)
    )
    asked = np.repeat([[1.0], [0.0]], [7, 3], axis=0)
    score = mia.fit_predictor(members=inside, nonmembers=outside)
    assert mia.share_called_unseen(scores=score(asked)) == pytest.approx(unseen)
    assert official(inside, outside, asked) == pytest.approx(unseen)


@pytest.mark.parametrize("right", [1, 7, 10, 19])
def test_as_many_right_on_either_side_is_a_tie_whatever_the_solver_rounds(right: int):
    # By the same symmetry f = 0 at both values. Libsvm's iterations leave some 1e-15 of either
    # sign, which would call all, half or none of the forget set unseen by chance.
    same = np.repeat([[1.0], [0.0]], [right, 20 - right], axis=0)
    score = mia.fit_predictor(members=same, nonmembers=same)
    assert score(np.array([[0.0], [1.0]])).tolist() == [0.0, 0.0]
    assert mia.share_called_unseen(scores=score(same)) == 0.0
