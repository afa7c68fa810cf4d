"""What sentences on several verdicts share."""

from __future__ import annotations


def doubt(unsure: int, count: int, *, known: int = 0) -> str:
    """What follows "`count` forgot" where `unsure` of these words are indications, and in `known`
    of them the features still know what the outputs forgot: ", 3 shown and 2 by indication; the
    features of 1 still know what was forgotten". "" where there is neither.
    """
    said = ""
    if unsure:
        said = f", {count - unsure} shown and {unsure} by indication"
        said = said if unsure < count else " by indication"
    if known:
        whose = "its features" if count == 1 else f"the features of {known}"
        said += f"; {whose} still know what was forgotten"
    return said
