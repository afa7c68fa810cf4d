"""What sentences on several verdicts share."""

from __future__ import annotations


def doubt(unsure: int, count: int, *, known: int = 0) -> str:
    """What follows "`count` forgot" where `unsure` of these verdicts may change with more seeds,
    and in `known` of them the features still know what the outputs forgot: ", 2 of them not yet for
    certain; the features of 1 still know what was forgotten". "" where there is neither.
    """
    said = ""
    if unsure:
        said += f", {'though' if unsure == count else f'{unsure} of them'} not yet for certain"
    if known:
        whose = "its features" if count == 1 else f"the features of {known}"
        said += f"; {whose} still know what was forgotten"
    return said
