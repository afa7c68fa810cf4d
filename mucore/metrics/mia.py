"""Membership inference: five attacks that try to tell training samples from unseen ones by a
model's predictions.

Conventions: `probabilities` (n, C) float64, rows sum to 1; `labels` (n,) in 0..C−1; a feature is
(n, d) float64; a score is (n,), higher means more like a training sample, and from 0 on an attack
says "member": so does `SVC.predict` of a tie (a decision of exactly 0), which two equal halves of
one feature value give. Rates are fractions in 0..1.

For attributes, `probabilities` and `labels` are (n, A). Each attribute is a problem of two classes
with the probabilities (1 − p, p), whose features are averaged: `correctness` is the share of right
answers, `confidence` the geometric mean of the true answers' probabilities (so that it is
exp(−loss) as with classes), `entropy` and `m_entropy` are arithmetic means, `prob` is the vector p.
MUCAC's paper attacks the loss alone; the rest is ours.

Source: MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 3.4 and appendix; features after Song &
Mittal, Systematic Evaluation of Privacy Risks of Machine Learning Models, USENIX Security 2021;
predictor after Unlearn-Sparse (Jia et al., NeurIPS 2023), `evaluation/SVC_MIA.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts load when they are named

from mucore.errors import BadValue, UnknownName
from mucore.outputs import answers
from mucore.rng import numpy_rng

if TYPE_CHECKING:
    from sklearn.svm import SVC

ATTACKS = ("correctness", "confidence", "entropy", "m_entropy", "prob")
LOW_RATES = (0.001, 0.01)  # false-positive rates at which the true-positive rate is told
LOG_FLOOR = 1e-30
# decisions of the machine are 0 within the rounding of its solver, some 1e-15 to 1e-11; real ones
# are far from it
TIE = 1e-9
_ROWS = 128  # features scored at once, so that their bells stay in the processor's cache
Scorer = Callable[[np.ndarray], np.ndarray]  # feature (n, d) -> score (n,)


# -- features


def correctness(*, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """1 where the most probable class is the true one, else 0."""
    return (probabilities.argmax(axis=1) == labels).astype(np.float64)


def confidence(*, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """p_y, the probability of the true class, in 0..1."""
    return probabilities[np.arange(len(labels)), labels]


def entropy(*, probabilities: np.ndarray) -> np.ndarray:
    """−Σ p_c ln p_c in nats, with 0·ln 0 = 0; in 0..ln C."""
    return -(probabilities * _log(probabilities)).sum(axis=1)


def m_entropy(*, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Modified entropy −(1−p_y) ln p_y − Σ_{c≠y} p_c ln(1−p_c), logs floored at 1e-30 (Song &
    Mittal 2021, equation 6).

    0 for a confident right prediction, large for a confident wrong one; at most about 138.
    """
    rows = np.arange(len(labels))
    of_true = probabilities[rows, labels]
    others = probabilities * _log(1 - probabilities)
    others[rows, labels] = 0.0
    return -(1 - of_true) * _log(of_true) - others.sum(axis=1)


def feature(attack: str, *, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """What the attack looks at, (n, 1); (n, C) or (n, A) for `prob`. Raises `UnknownName`."""
    if labels.ndim == 2 and attack in ATTACKS and attack != "prob":
        each = feature(
            attack, probabilities=answers(probabilities, "attributes"), labels=labels.ravel()
        ).reshape(labels.shape)
        mean = np.exp(_log(each).mean(axis=1)) if attack == "confidence" else each.mean(axis=1)
        return mean[:, None]
    match attack:
        case "correctness":
            return correctness(probabilities=probabilities, labels=labels)[:, None]
        case "confidence":
            return confidence(probabilities=probabilities, labels=labels)[:, None]
        case "entropy":
            return entropy(probabilities=probabilities)[:, None]
        case "m_entropy":
            return m_entropy(probabilities=probabilities, labels=labels)[:, None]
        case "prob":
            return probabilities
    raise UnknownName("membership attack", attack, ATTACKS)


# -- attack data


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackSplit:
    """Positions of the samples that fit an attack, and of those that test it, in the members' and
    in the non-members' arrays.
    """

    member_fit: np.ndarray
    member_held: np.ndarray
    nonmember_fit: np.ndarray
    nonmember_held: np.ndarray

    @property
    def held_out(self) -> int:
        """Samples, of both sides together, that test the attack."""
        return len(self.member_held) + len(self.nonmember_held)


def split_attack_data(
    *, members: int, nonmembers: int, cap: int, evaluation_seed: int
) -> AttackSplit:
    """Draw n = min(members, nonmembers, cap) a side; the first half fits the attack, the second
    half tests it.

    The second half is not in the papers. An attack's accuracy on the samples that fitted it says
    nothing (an RBF machine can learn them by heart), and without that accuracy nobody can tell
    whether the efficacy is evidence. Raises `BadValue` below two samples a side.
    """
    n = min(members, nonmembers, cap)
    if n < 2:
        raise BadValue(
            "A membership attack needs two members and two non-members at least, but got "
            f"{members} and {nonmembers}. Forget less."
        )
    rng = numpy_rng(evaluation_seed, "attack")
    inside, outside = rng.permutation(members)[:n], rng.permutation(nonmembers)[:n]
    half = (n + 1) // 2
    return AttackSplit(
        member_fit=inside[:half],
        member_held=inside[half:],
        nonmember_fit=outside[:half],
        nonmember_held=outside[half:],
    )


# -- predictors


def fit_predictor(*, members: np.ndarray, nonmembers: np.ndarray) -> Scorer:
    """Learn to tell two features (m, d) and (k, d) apart; the result scores features.

    SVC(C=3, gamma="auto", kernel="rbf"), the papers' choice.
    """
    from sklearn.svm import SVC  # half a second that most readers of scores never need

    samples = np.concatenate([members, nonmembers])
    is_member = np.repeat([1, 0], [len(members), len(nonmembers)])
    # Equal samples are one sample of their joint weight: the same solution, and `correctness` has
    # four rows instead of thousands.
    rows, weights = np.unique(np.column_stack([samples, is_member]), axis=0, return_counts=True)
    machine = SVC(C=3, gamma="auto", kernel="rbf").fit(
        rows[:, :-1], rows[:, -1].astype(int), sample_weight=weights
    )
    score = _sum_of_bells(machine)

    def decide(features: np.ndarray) -> np.ndarray:
        scores = _once_each(score, features)
        return np.where(np.abs(scores) < TIE, 0.0, scores)

    return decide


def _sum_of_bells(machine: SVC) -> Scorer:
    """The decision of a fitted machine on features (n, d), Σ αᵢ exp(−γ ‖x − sᵢ‖²) + b, by rows of
    arrays; one sample at a time it takes libsvm a fourth of an evaluation. The two differ by
    rounding, far less than `TIE`.
    """
    centres, heights = machine.support_vectors_, machine.dual_coef_[0]
    gamma, offset = 1 / centres.shape[1], machine.intercept_[0]  # what "auto" stands for
    lengths = np.square(centres).sum(axis=1)

    def score(features: np.ndarray) -> np.ndarray:
        found = np.empty(len(features))
        for start in range(0, len(features), _ROWS):
            rows = features[start : start + _ROWS]
            bells = _distances(rows, centres, lengths)
            np.exp(np.multiply(bells, -gamma, out=bells), out=bells)
            found[start : start + _ROWS] = bells @ heights + offset
        return found

    return score


def _distances(rows: np.ndarray, centres: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Squared distances (m, n) of rows (m, d) from centres (n, d) of the squared `lengths` (n,)."""
    if centres.shape[1] == 1:
        # A difference keeps its digits where numbers are large: entropies, not probabilities.
        bells = rows - centres[:, 0]
        return np.multiply(bells, bells, out=bells)
    products = rows @ centres.T
    np.multiply(products, -2, out=products)
    products += lengths
    products += np.square(rows).sum(axis=1)[:, None]
    return products


def _once_each(score: Scorer, features: np.ndarray) -> np.ndarray:
    """Score equal rows once, so that they tie whatever rounding makes of their places."""
    rows, where = np.unique(features, axis=0, return_inverse=True)
    return score(rows)[where.reshape(-1)]


def best_cut(*, members: np.ndarray, nonmembers: np.ndarray) -> tuple[float, float]:
    """The cut through two samples (m,) and (k,) with the best balanced accuracy, the lowest of
    equals, and 1 where members lie above it, −1 where below.
    """
    inside, outside = np.sort(members), np.sort(nonmembers)
    values = np.unique(np.concatenate([inside, outside]))
    cuts = np.concatenate([[values[0] - 1], (values[:-1] + values[1:]) / 2])
    below, falsely_below = (
        np.searchsorted(inside, cuts, side="right"),
        np.searchsorted(outside, cuts, side="right"),
    )
    # Whole numbers, so that equally good cuts are equal.
    lead = falsely_below * len(inside) - below * len(outside)
    best = int(np.argmax(np.abs(lead)))
    return float(cuts[best]), 1.0 if lead[best] >= 0 else -1.0


# -- measures


def share_called_unseen(*, scores: np.ndarray) -> float:
    """MIA-efficacy, TN / |Df|: share of the forget set that the attack calls "unseen" (MUBox,
    section 3.4); a tie is a member.
    """
    return float(np.mean(scores < 0))


def balanced_accuracy(*, member_scores: np.ndarray, nonmember_scores: np.ndarray) -> float:
    """Mean of the share of members called members and of non-members called unseen; 0.5 is
    guessing.
    """
    return float((np.mean(member_scores >= 0) + np.mean(nonmember_scores < 0)) / 2)


def auc(*, positives: np.ndarray, negatives: np.ndarray) -> float:
    """Probability that a positive scores above a negative, ties counting one half (area under the
    ROC curve), exact by ranks.
    """
    ranks = scipy.stats.rankdata(np.concatenate([positives, negatives]))[: len(positives)]
    n, m = len(positives), len(negatives)
    return float((ranks.sum() - n * (n + 1) / 2) / (n * m))


def tpr_at_fpr(*, positives: np.ndarray, negatives: np.ndarray, fpr: float) -> float:
    """Largest share of positives above a threshold that lets at most the share `fpr` of the
    negatives pass.

    Equal scores pass together; nothing is interpolated. With fewer than 1/fpr negatives not a
    single one may pass.
    """
    allowed = int(np.floor(fpr * len(negatives) + 1e-9))
    if allowed >= len(negatives):
        return 1.0
    return float(np.mean(positives > np.sort(negatives)[len(negatives) - 1 - allowed]))


def roc(*, positives: np.ndarray, negatives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ROC curve from (0, 0) to (1, 1): false- and true-positive rates, one point a distinct
    score; equal scores pass together.
    """
    values = np.unique(np.concatenate([positives, negatives]))[::-1]
    rates = [
        1 - np.searchsorted(np.sort(each), values, side="left") / len(each)
        for each in (negatives, positives)
    ]
    false, true = (np.concatenate([[0.0], rate]) for rate in rates)
    return false, true


def attack_is_blind(accuracy: float, n: int) -> bool:
    """Whether a balanced accuracy on `n` held-out samples lies within the binomial 95 % interval of
    guessing (0.5).

    A blind attack cannot tell members from non-members, so what it says about the forget set is not
    evidence: pages say that it only guesses. A result keeps it as a note (`sanity.py`), which
    `remeasure` renews; `mucore/statistics/outliers.py` asks the same over several seeds.
    """
    low, high = scipy.stats.binom.interval(0.95, n, 0.5)
    return bool(low / n <= accuracy <= high / n)


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """What one attack found, fractions in 0..1."""

    attack_accuracy: float
    held_out: int
    # None where there is no forget set
    efficacy: float | None = None
    auc: float | None = None
    tpr_01: float | None = None  # at 0.1 % false positives
    tpr_1: float | None = None  # at 1 %
    # (n,) of the forget set, whether the attack calls the sample unseen; the efficacy is its mean
    unseen: np.ndarray | None = field(default=None, compare=False)


def run_attack(
    attack: str,
    *,
    forget: tuple[np.ndarray, np.ndarray] | None,
    members: tuple[np.ndarray, np.ndarray],
    nonmembers: tuple[np.ndarray, np.ndarray],
    cap: int,
    evaluation_seed: int,
) -> Attacked:
    """Fit one attack and ask it about the forget set. Each role is (probabilities, labels); `cap`
    and the seed are those of `split_attack_data`.

    AUC and TPR take the forget set as positives and all non-members as negatives. They are free of
    any fit for the scalar features, whose score is the feature itself (entropies negated). `prob`
    has no order of its own, so its score is the machine's, and its negatives are the non-members
    that did not fit it. A perfectly forgotten set scores as Retrain's does, near 0.5 for AUC and
    near `fpr` for TPR.
    """
    split = split_attack_data(
        members=len(members[1]),
        nonmembers=len(nonmembers[1]),
        cap=cap,
        evaluation_seed=evaluation_seed,
    )
    inside = feature(attack, probabilities=members[0], labels=members[1])
    outside = feature(attack, probabilities=nonmembers[0], labels=nonmembers[1])
    score = fit_predictor(members=inside[split.member_fit], nonmembers=outside[split.nonmember_fit])
    # of `prob` all that did not fit it are negatives below, so they are scored here, once
    unseen = (
        np.setdiff1d(np.arange(len(outside)), split.nonmember_fit)
        if attack == "prob" and forget is not None
        else np.sort(split.nonmember_held)
    )
    of_unseen = score(outside[unseen])
    accuracy = balanced_accuracy(
        member_scores=score(inside[split.member_held]),
        nonmember_scores=of_unseen[np.searchsorted(unseen, split.nonmember_held)],
    )
    if forget is None:
        return Attacked(attack_accuracy=accuracy, held_out=split.held_out)
    asked = feature(attack, probabilities=forget[0], labels=forget[1])
    scores = score(asked)
    positives = scores if attack == "prob" else _ordered(attack, asked, None)
    negatives = of_unseen if attack == "prob" else _ordered(attack, outside, None)
    return Attacked(
        efficacy=share_called_unseen(scores=scores),
        attack_accuracy=accuracy,
        auc=auc(positives=positives, negatives=negatives),
        tpr_01=tpr_at_fpr(positives=positives, negatives=negatives, fpr=LOW_RATES[0]),
        tpr_1=tpr_at_fpr(positives=positives, negatives=negatives, fpr=LOW_RATES[1]),
        held_out=split.held_out,
        unseen=scores < 0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """What one attack thinks of every sample, (n,) a split; higher is more like a training sample.

    `negatives` are the test scores that AUC and TPR compare with. Above `cut` a single threshold
    says "member": the best cut between the samples that would fit the attack (0 for `prob`, whose
    score comes from a fit). `reversed` says that there members lie below it.
    """

    forget: np.ndarray
    retain: np.ndarray
    test: np.ndarray
    negatives: np.ndarray
    cut: float
    reversed: bool


def score_samples(
    attack: str,
    *,
    forget: tuple[np.ndarray, np.ndarray],
    members: tuple[np.ndarray, np.ndarray],
    nonmembers: tuple[np.ndarray, np.ndarray],
    cap: int,
    evaluation_seed: int,
) -> Scores:
    """The scores behind AUC and TPR of `run_attack`, sample by sample.
    Arguments are the same.
    """
    split = split_attack_data(
        members=len(members[1]),
        nonmembers=len(nonmembers[1]),
        cap=cap,
        evaluation_seed=evaluation_seed,
    )
    asked, inside, outside = (
        feature(attack, probabilities=p, labels=y) for p, y in (forget, members, nonmembers)
    )
    score = (
        fit_predictor(members=inside[split.member_fit], nonmembers=outside[split.nonmember_fit])
        if attack == "prob"
        else None
    )
    retain, test = _ordered(attack, inside, score), _ordered(attack, outside, score)
    cut, sign = (
        best_cut(members=retain[split.member_fit], nonmembers=test[split.nonmember_fit])
        if score is None
        else (0.0, 1.0)
    )
    return Scores(
        forget=_ordered(attack, asked, score),
        retain=retain,
        test=test,
        negatives=_unlearned_from(attack, test, split),
        cut=cut,
        reversed=sign < 0,
    )


def _ordered(attack: str, features: np.ndarray, score: Scorer | None) -> np.ndarray:
    """A score that ranks samples: the feature itself where it is one number (entropies negated),
    else what the fitted `score` says.
    """
    if attack == "prob" and score is not None:
        return score(features)
    return -features[:, 0] if attack in ("entropy", "m_entropy") else features[:, 0]


def _unlearned_from(attack: str, nonmembers: np.ndarray, split: AttackSplit) -> np.ndarray:
    """The non-members that AUC and TPR may look at: all of them, but for `prob` those alone that
    did not fit its score.
    """
    return np.delete(nonmembers, split.nonmember_fit, axis=0) if attack == "prob" else nonmembers


def _log(values: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(values, LOG_FLOOR))
